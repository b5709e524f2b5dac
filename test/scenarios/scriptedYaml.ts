import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

export const everything = createRequire(import.meta.url).resolve(
  '@modelcontextprotocol/server-everything/dist/index.js',
);
const fixture = fileURLToPath(new URL('../../packages/testkit/fixtures/scriptedServer.mjs', import.meta.url));

/** A scripted server as an entry of `mcpServers`. */
export function server(name: string, env: Record<string, string> = {}, more = ''): string {
  return [
    `  ${name}:`,
    `    command: ${JSON.stringify(process.execPath)}`,
    `    args: [${JSON.stringify(fixture)}]`,
    `    env: ${JSON.stringify(env)}`,
    ...(more ? [`    ${more}`] : []),
    '',
  ].join('\n');
}

/** A configuration with one scripted server. */
export const scripted = () => `mcpServers:\n${server('scripted')}`;
