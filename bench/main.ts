import { measureBig } from './big.ts';
import { measureCalls } from './calls.ts';
import { measureHang } from './hang.ts';
import { measureIdle } from './idle.ts';
import { measureLists } from './lists.ts';
import { measureObo } from './obo.ts';
import { measureMcp } from './mcp.ts';
import { requirePeers } from './peerProcesses.ts';
import { measurePeers } from './peers.ts';
import { requireRedis } from './redis.ts';
import { selectGoals, printReport, type PartReport, type Report } from './report.ts';
import { measureSearch } from './search.ts';
import { measureServers } from './servers.ts';
import type { PartOptions } from './rig.ts';
import { measureStart } from './start.ts';
import { measureStorm } from './storm.ts';
import { measureStreams } from './streams.ts';
import { measureUsers } from './users.ts';
import { measureWeb } from './web.ts';

/** `npm run bench [-- --only NAME] [-- --json]`: measures on loopback for a limited time and prints a report. */
const benchmarks: Record<string, (options: PartOptions) => Promise<PartReport>> = {
  calls: measureCalls,
  big: measureBig,
  users: measureUsers,
  servers: measureServers,
  hang: measureHang,
  idle: measureIdle,
  lists: measureLists,
  search: measureSearch,
  obo: measureObo,
  storm: measureStorm,
  web: measureWeb,
  mcp: measureMcp,
  streams: measureStreams,
  peers: measurePeers,
  // Last, because it removes the build and creates it again.
  start: async (options) => ({ start: await measureStart(options) }),
};

const args = process.argv.slice(2);
const selectedNames = args.flatMap((arg, i) => (args[i - 1] === '--only' ? arg.split(',') : []));
const unknownNames = selectedNames.filter((name) => !(name in benchmarks));
if (unknownNames.length > 0 || (args.includes('--only') && selectedNames.length === 0)) {
  process.stderr.write(`--only takes one of ${Object.keys(benchmarks).join(', ')}\n`);
  process.exit(2);
}
const namesToRun = Object.keys(benchmarks).filter(
  (name) => selectedNames.length === 0 || selectedNames.includes(name),
);
const report: Report = { rows: [], ratios: {}, counts: {}, goals: {} };
try {
  // Fail early, before minutes are spent.
  if (namesToRun.includes('peers') || namesToRun.includes('mcp')) requirePeers();
  if (namesToRun.includes('obo') || namesToRun.includes('storm')) requireRedis(process.env);
  for (const name of namesToRun) {
    process.stderr.write(`${name} ...\n`);
    const result = await benchmarks[name]?.({
      progress: (line) => process.stderr.write(`  ${line}\n`),
      environment: process.env,
    });
    report.rows.push(...(result?.rows ?? []));
    Object.assign(report.ratios, result?.ratios);
    Object.assign(report.counts, result?.counts);
    if (result?.start) report.start = result.start;
  }
  report.goals = selectGoals(report);
  process.stdout.write(args.includes('--json') ? `${JSON.stringify(report)}\n` : printReport(report));
} catch (error) {
  process.stderr.write(`The benchmark failed: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
