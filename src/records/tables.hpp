// Jobs, trials and records in the tables of tuner_db/schema.sql. All functions work inside the caller's transaction and
// throw DatabaseError.
#pragma once

#include "records/database.hpp"
#include "records/winners.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hstujit {

struct ProblemOnDevice {
  Problem problem;
  std::string device_class;
};

/// Reads jobs with their trials.
class Reader {
 public:
  explicit Reader(Connection& connection);

  /// Sorted by device class, problem, start and uid. Jobs whose problem this library cannot read are left out.
  std::vector<Job> all();
  std::vector<Job> of(const ProblemOnDevice& problem);

 private:
  std::vector<Job> jobs_of(Statement& heads);
  Statement all_, some_, trials_;
};

/// Writes into one transaction; prepared statements and row ids live as long as it does.
class Writer {
 public:
  explicit Writer(Connection& connection);

  /// Adds the job, or takes over its state if it is a later one than the stored. True when it was not there before.
  bool put_job(const Job& head);
  /// Adds a trial of a job that was put before; the later of two measurements stays. True when something changed.
  bool put_trial(const std::string& job_uid, const Trial& trial);
  /// Decides the problem of the job from all stored trials and stores the winner, or removes it.
  void decide_again(const Problem& problem, const std::string& device_class);

 private:
  int64_t problem_id(const Problem& problem);
  int64_t env_id(const Evidence& evidence);
  int64_t space_id(const std::string& family, const std::string& text);
  int64_t job_id(const std::string& uid);
  void put_winner(const Record& record);

  Connection& connection_;
  Reader reader_;
  Statement insert_problem_, find_problem_, insert_env_, find_env_, insert_space_, find_space_;
  Statement insert_job_, update_job_, find_job_, put_trial_, put_winner_, drop_winner_;
  std::map<std::string, int64_t> problems_, jobs_;
  std::map<Evidence, int64_t> envs_;
  std::map<std::pair<std::string, std::string>, int64_t> spaces_;
};

/// Adds every stored winner to the table.
void read_winners(Connection& connection, Winners& winners);

/// Names a state of the stored winners: the last change to them.
struct Mark {
  int64_t seq = 0, token = 0;
};
Mark latest_mark(Connection& connection);

/// Brings a table of the state `since` up to date; what is no longer stored becomes again what `below` says of it. How
/// many records changed; nothing, and the table as it was, when this database never was in that state or has forgotten.
std::optional<size_t> read_changes(Connection& connection, const Mark& since, const Winners& below, Winners& winners);

/// The canonical order of jobs and, within a job, of trials.
void sort_canonically(std::vector<Job>& jobs);

}  // namespace hstujit
