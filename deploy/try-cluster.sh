#!/usr/bin/env bash
# Tries the cluster form on real servers: two intake and two analysis nodes, PostgreSQL, two replicas of ClickHouse and Keeper,
# in containers of this machine. It sends events all the time, kills one part after another, and compares what was
# acknowledged with what is stored. Takes about 20 minutes, 8 GB of memory and 10 GB of disk.
#
#   deploy/try-cluster.sh [--keep]          --keep leaves the containers running
#
# It prints a report in Markdown, for an issue. It ends with 1 when something was lost, stored twice, or failed.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1

# How long each part is away, how long the cluster may take to recover, and the users of the demonstration.
away=${AWAY_SECONDS:-20}
patience=${PATIENCE_SECONDS:-300}
users=${DEMO_USERS:-200}
listen=${LISTEN:-127.0.0.1:18080}

folder=$(mktemp -d)
report=$folder/report.md
password() { head -c 24 /dev/urandom | od -An -tx1 | tr -d ' \n'; }
export POSTGRES_PASSWORD CLICKHOUSE_PASSWORD PUBLIC_URL=http://$listen LISTEN=$listen
POSTGRES_PASSWORD=$(password)
CLICKHOUSE_PASSWORD=$(password)
failures=0
sender=

compose() { docker compose --project-name rekindle-try -f compose.cluster.yaml -f compose.try-cluster.yaml "$@"; }
rekindle() { compose exec -T "${node:-analysis-1}" /rekindle/cli/rekindle "$@" </dev/null; }

end() {
  [[ -n $sender ]] && kill "$sender" 2>/dev/null
  if [[ ${keep:-} ]]; then
    echo "the containers run on: docker compose --project-name rekindle-try down --volumes removes them" >&2
  else
    compose down --volumes >"$folder/down.log" 2>&1
  fi
  rm -rf "$folder"
}
[[ ${1:-} == --keep ]] && keep=yes
trap end EXIT

# step NAME COMMAND…: a row of the report, and the end of what a failing command printed.
step() {
  local name=$1 began=$SECONDS result=ok
  shift
  echo "== $name" >&2
  "$@" >"$folder/step.log" 2>&1 || result=FAILED
  echo "| $name | $result | $((SECONDS - began)) |" >>"$report"
  [[ $result == ok ]] && return 0
  failures=$((failures + 1))
  { echo "### $name"; echo '```'; tail -n 40 "$folder/step.log"; echo '```'; } >>"$folder/failed.md"
}

# Sends an event after another, each as often as it takes, and counts those that were acknowledged.
send() {
  local n status
  for ((n = 1; ; n++)); do
    until
      status=$(curl --silent --max-time 10 --output /dev/null --write-out '%{http_code}' "$PUBLIC_URL/track" \
        --header "Authorization: Bearer $token" --header 'Content-Type: application/json' \
        --data "{\"userId\":\"u$((n % 50))\",\"event\":\"tried\",\"messageId\":\"try-$n\"}")
      [[ $status == 201 ]]
    do sleep 0.2; done
    echo "$n" >"$folder/sent"
    sleep 0.1
  done
}

begin() {
  local n
  rekindle organization create Try || return 1
  token=$(rekindle token create --organization Try | tr -d '[:space:]') || return 1
  for ((n = 0; n < 50; n++)); do
    curl --silent --show-error --fail "$PUBLIC_URL/identify" --header "Authorization: Bearer $token" \
      --header 'Content-Type: application/json' --data "{\"userId\":\"u$n\",\"email\":\"u$n@example.com\"}" || return 1
  done
  send &
  sender=$!
}

# Waits until a command succeeds. until_so WHAT COMMAND…
until_so() {
  local what=$1 deadline=$((SECONDS + patience))
  shift
  until "$@"; do
    if ((SECONDS > deadline)); then echo "waited $patience s until $what" >&2; return 1; fi
    sleep 2
  done
}

# Whether everything that was acknowledged before is stored, each event once.
is_stored() {
  local wanted ids
  wanted=$(cat "$folder/sent") || return 1
  ids=$(rekindle export events --organization Try --format jsonl | grep -o '"messageId":"try-[0-9]*"' | sort) || return 1
  [[ -z $(uniq -d <<<"$ids") ]] || { echo "events are stored twice: $(uniq -d <<<"$ids" | head -n 3)"; return 1; }
  (($(wc -l <<<"$ids") >= wanted))
}

agrees() { rekindle doctor; }

# Kills a part without warning, starts it after a while, and waits until nothing is missing.
without() {
  local part=$1 before
  node=analysis-1
  [[ $part == analysis-1 ]] && node=analysis-2
  before=$(cat "$folder/sent")
  compose kill --signal SIGKILL "$part" || return 1
  sleep "$away"
  if [[ $part != postgres ]] && (($(cat "$folder/sent") <= before)); then echo "no event was taken meanwhile"; return 1; fi
  compose start "$part" || return 1
  until_so "everything is stored" is_stored && until_so "ledger, events and rollups agree" agrees
}

{
  echo "## Rekindle on a cluster"
  echo
  echo "- $(date -u +%F), commit $(git rev-parse --short HEAD 2>/dev/null || echo unknown), $(uname -srm), $(nproc) cores"
  echo "- Docker $(docker version --format '{{.Server.Version}}' 2>/dev/null), Compose $(docker compose version --short 2>/dev/null)"
  echo
  echo "| step | result | seconds |"
  echo "| --- | --- | --- |"
} >"$report"

step "start" compose up --detach --build --wait
if ((failures == 0)); then
  step "doctor on empty stores" agrees
  step "an organization, and events" begin
fi
if ((failures == 0)); then
  step "demo, $users users" rekindle demo --users "$users" --no-team
  step "everything is stored, once" until_so "everything is stored" is_stored
fi
if ((failures == 0)); then
  for part in analysis-1 analysis-2 intake-1 clickhouse-2 clickhouse keeper postgres; do
    step "$part killed for $away s" without "$part"
  done
  kill "$sender" 2>/dev/null
  wait "$sender" 2>/dev/null
  sender=
  node=analysis-1
  step "at the end: everything is stored, once" until_so "everything is stored" is_stored
  step "at the end: ledger, events and rollups agree" agrees
fi
cat "$report"
echo
echo "$(cat "$folder/sent" 2>/dev/null || echo 0) events were acknowledged."
[[ -f $folder/failed.md ]] && cat "$folder/failed.md"
((failures == 0))
