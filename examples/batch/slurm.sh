#!/bin/bash
# Slurm: an array job, one part of the tasks for each index, results on the shared folder that it is submitted from.
#
#   sbatch slurm.sh                          as many parts as --array says, here two
#   sbatch --array=1-50%10 slurm.sh          50 parts, 10 at a time
#   sbatch --array=4 slurm.sh                part 4 once more: it goes on where it was
#   sawtooth batch --summary results/part-*
#
#SBATCH --job-name=sawtooth
#SBATCH --array=1-2
#SBATCH --cpus-per-task=2
#SBATCH --mem=4G
#SBATCH --time=04:00:00
# A part whose node fails, or that must give way, is started anew and goes on.
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=sawtooth-%A_%a.log
# Three minutes before its time is over.
#SBATCH --signal=B:USR1@180
set -u

# How many parts there are is settled by the first array; one that is submitted again alone is still one of them.
mkdir -p results
if [ ! -s results/parts ]; then
  echo "$SLURM_ARRAY_TASK_COUNT" >"results/parts.$SLURM_JOB_ID"
  ln "results/parts.$SLURM_JOB_ID" results/parts 2>/dev/null
  rm -f "results/parts.$SLURM_JOB_ID"
fi
part=$SLURM_ARRAY_TASK_ID/$(cat results/parts) || exit 2

# Tasks work on the node's own disk; repositories are fetched once for all parts.
sawtooth batch tasks.jsonl --out "results/part-$SLURM_ARRAY_TASK_ID" --shard "$part" \
  --jobs "$SLURM_CPUS_PER_TASK" --trees "${TMPDIR:-/tmp}" --mirrors results/repos \
  --task-budget-usd 1 --task-time 30m --max-budget-usd 40 &
batch=$!
again=
trap 'kill -TERM $batch' TERM
trap 'again=time; kill -TERM $batch' USR1
wait $batch
code=$?
# A signal ends `wait`, but not the batch, which stops its tasks in order.
while kill -0 $batch 2>/dev/null; do
  wait $batch
  code=$?
done

tries=${SLURM_RESTART_COUNT:-0}
if [ "$again" ] && [ "$tries" -lt 20 ]; then
  echo "part $part: the time is over; queued again"
  scontrol requeue "$SLURM_JOB_ID"
elif [ $code = 7 ] && [ "$tries" -lt 5 ]; then
  # This node's disk is full or read-only: another one goes on.
  echo "part $part: queued again, not for $SLURMD_NODENAME"
  trap '' TERM
  others=$(squeue --noheader --job "$SLURM_JOB_ID" --format %x)
  scontrol requeuehold "$SLURM_JOB_ID"
  scontrol update "JobId=$SLURM_JOB_ID" "ExcNodeList=${others:+$others,}$SLURMD_NODENAME"
  scontrol release "$SLURM_JOB_ID"
fi
exit $code
