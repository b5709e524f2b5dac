// The command that the suite runs for each scenario: hands it to the driver and ends as it ended.
// node client.mjs SOCKET URL
import { request } from 'node:http';
import { json } from 'node:stream/consumers';

const [, , socketPath, url] = process.argv;
const { MCP_CONFORMANCE_SCENARIO: name, MCP_CONFORMANCE_CONTEXT: context = '{}' } = process.env;

const asked = request({ socketPath, method: 'POST', path: '/' });
asked.end(JSON.stringify({ name, url, context: JSON.parse(context) }));
const answer = await new Promise((resolve, reject) => asked.once('response', resolve).once('error', reject));
const { refused, said } = await json(answer);
process.stderr.write(said.map((line) => `${line}\n`).join(''));
process.stdout.write(`${JSON.stringify({ refused })}\n`);
process.exitCode = refused === null ? 0 : 1;
