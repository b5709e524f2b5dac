// The command that the suite runs for each scenario: hands it to the driver and ends as it ended.
// node client.mjs SOCKET WHO URL
import { request } from 'node:http';
import { json } from 'node:stream/consumers';

const [, , socketPath, who, url] = process.argv;
const {
  MCP_CONFORMANCE_SCENARIO: name,
  MCP_CONFORMANCE_CONTEXT: context = '{}',
  MCP_CONFORMANCE_PROTOCOL_VERSION: revision,
} = process.env;

const driverRequest = request({ socketPath, method: 'POST', path: `/${who}` });
driverRequest.end(JSON.stringify({ name, url, revision, context: JSON.parse(context) }));
const answer = await new Promise((resolve, reject) =>
  driverRequest.once('response', resolve).once('error', reject),
);
const { refused, said } = await json(answer);
process.stderr.write(said.map((line) => `${line}\n`).join(''));
process.stdout.write(`${JSON.stringify({ refused })}\n`);
process.exitCode = refused === null ? 0 : 1;
