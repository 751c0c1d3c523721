-- The tuning database, version 2. Trials are truth, winners are derived from them (src/records/decide.hpp) in the same
-- transaction. Times are nanoseconds, dates Unix milliseconds. Changes are forward only: a new version adds a step to
-- tuner_schema() in src/records/schema.cpp and raises user_version here.
PRAGMA application_id = 1752396917;  -- 'hstu'
PRAGMA user_version = 2;

-- What was asked, as text; key is the same in bytes, valid for readers whose field table has the digest `layout`.
CREATE TABLE problem(
  id     INTEGER PRIMARY KEY,
  text   TEXT NOT NULL UNIQUE,
  key    BLOB NOT NULL,
  layout INTEGER NOT NULL
) STRICT;

-- Under which circumstances a job measured: evidence, not identity.
CREATE TABLE env(
  id       INTEGER PRIMARY KEY,
  device   TEXT NOT NULL,
  driver   INTEGER NOT NULL,
  compiler TEXT NOT NULL,     -- NVRTC and its build id
  kernels  TEXT NOT NULL,     -- digest of the kernel sources
  library  TEXT NOT NULL,
  UNIQUE(device, driver, compiler, kernels, library)
) STRICT;

-- The knob table that configurations were drawn from: a new value re-opens the search, it does not void a winner.
CREATE TABLE space(
  id     INTEGER PRIMARY KEY,
  family TEXT NOT NULL,
  text   TEXT NOT NULL,
  UNIQUE(family, text)
) STRICT;

-- One tuning run of one problem; what an interrupted run needs to go on.
CREATE TABLE job(
  id           INTEGER PRIMARY KEY,
  uid          TEXT NOT NULL UNIQUE CHECK(length(uid) BETWEEN 1 AND 32),
  problem_id   INTEGER NOT NULL REFERENCES problem,
  device_class TEXT NOT NULL,
  env_id       INTEGER NOT NULL REFERENCES env,
  seed         INTEGER NOT NULL,
  budget_ms    INTEGER NOT NULL,
  state        INTEGER NOT NULL,  -- JobState
  started_ms   INTEGER NOT NULL,
  updated_ms   INTEGER NOT NULL
) STRICT;
CREATE INDEX job_by_problem ON job(problem_id, device_class);

CREATE TABLE trial(
  job_id      INTEGER NOT NULL REFERENCES job,
  space_id    INTEGER NOT NULL REFERENCES space,
  config      TEXT NOT NULL,
  stage       INTEGER NOT NULL,  -- Stage
  standard    INTEGER NOT NULL,  -- 1: the default configuration
  status      INTEGER NOT NULL,  -- TrialStatus
  samples     INTEGER NOT NULL,
  median_ns   INTEGER NOT NULL,
  mad_ns      INTEGER NOT NULL,
  p20_ns      INTEGER NOT NULL,
  p80_ns      INTEGER NOT NULL,
  sm_mhz      INTEGER NOT NULL,
  registers   INTEGER NOT NULL,
  smem_bytes  INTEGER NOT NULL,
  spill_bytes INTEGER NOT NULL,
  at_ms       INTEGER NOT NULL,
  PRIMARY KEY(job_id, space_id, config, stage)
) STRICT, WITHOUT ROWID;

-- The deciding trial of each problem and device class, repeated here so that start-up is one scan.
CREATE TABLE winner(
  problem_id   INTEGER NOT NULL REFERENCES problem,
  device_class TEXT NOT NULL,
  job_uid      TEXT NOT NULL,
  env_id       INTEGER NOT NULL REFERENCES env,
  space_id     INTEGER NOT NULL REFERENCES space,
  config       TEXT NOT NULL,
  stage        INTEGER NOT NULL,
  standard     INTEGER NOT NULL,
  status       INTEGER NOT NULL,
  samples      INTEGER NOT NULL,
  median_ns    INTEGER NOT NULL,
  mad_ns       INTEGER NOT NULL,
  p20_ns       INTEGER NOT NULL,
  p80_ns       INTEGER NOT NULL,
  sm_mhz       INTEGER NOT NULL,
  registers    INTEGER NOT NULL,
  smem_bytes   INTEGER NOT NULL,
  spill_bytes  INTEGER NOT NULL,
  at_ms        INTEGER NOT NULL,
  standard_ns  INTEGER NOT NULL,  -- median of the default configuration in the same job
  PRIMARY KEY(problem_id, device_class)
) STRICT, WITHOUT ROWID;

-- Which winners were decided or removed lately, so that whoever knows an earlier state reads no more than these. A state
-- is named by the last row; its random token tells whether this database ever was in it. The first row is nobody's.
CREATE TABLE change(
  seq          INTEGER PRIMARY KEY,
  token        INTEGER NOT NULL,
  problem_id   INTEGER NOT NULL,
  device_class TEXT NOT NULL
) STRICT;
INSERT INTO change VALUES(1, random(), -1, '');
CREATE TRIGGER winner_put AFTER INSERT ON winner BEGIN
  INSERT INTO change(token, problem_id, device_class) VALUES(random(), new.problem_id, new.device_class);
  DELETE FROM change WHERE seq <= (SELECT max(seq) FROM change) - 20000;
END;
CREATE TRIGGER winner_dropped AFTER DELETE ON winner BEGIN
  INSERT INTO change(token, problem_id, device_class) VALUES(random(), old.problem_id, old.device_class);
END;
