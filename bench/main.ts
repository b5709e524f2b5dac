import { measureStart } from './start.ts';

/** `npm run bench [-- --only NAME] [-- --json]`: runs on loopback, bounded, and prints what it measured. */
const benches = { start: measureStart };

const args = process.argv.slice(2);
const only = args[args.indexOf('--only') + 1];
const report: Record<string, unknown> = {};
for (const [name, measure] of Object.entries(benches)) {
  if (args.includes('--only') && only !== name) continue;
  process.stderr.write(`${name} ...\n`);
  report[name] = await measure({
    progress: (line) => process.stderr.write(`  ${line}\n`),
    environment: process.env,
  });
}
process.stdout.write(`${JSON.stringify(report, null, args.includes('--json') ? undefined : 2)}\n`);
