// `npm run conformance`: runs the official MCP conformance suite and prints the score. As a client: Behalf's
// upstream and OAuth code, compared with the SDK's client. As a server: the MCP endpoints, with an SDK server as
// upstream. `--requirements REVISION` selects one set, `--leg client` or `--leg server` one side. Transcripts are
// in .build/conformance.
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
