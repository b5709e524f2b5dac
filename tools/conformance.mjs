// `npm run conformance`: the official suite of MCP against the gateway, and the score: as a client, our own upstream and OAuth
// code, with the SDK's own client beside it; as a server, the MCP endpoints with a server of the SDK behind them. `--requirements REVISION` runs one set alone,
// `--leg client` or `--leg server` one side. What was sent and said stays in .build/conformance.
import { parseArgs } from 'node:util';
import { runClientLeg } from '../test/conformance/clientLeg.ts';
import { runServerLeg } from '../test/conformance/serverLeg.ts';
import { installSuite } from '../test/conformance/suite.ts';

const legs = { client: runClientLeg, server: runServerLeg };

try {
  const { values } = parseArgs({
    options: {
      requirements: { type: 'string', multiple: true, default: ['2025-11-25', '2026-07-28'] },
      leg: { type: 'string', multiple: true, default: Object.keys(legs) },
    },
  });
  await installSuite();
  for (const leg of values.leg) {
    if (!Object.hasOwn(legs, leg)) throw new Error(`No such leg: ${leg}`);
    if (!(await legs[leg](values.requirements))) process.exitCode = 1;
  }
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
