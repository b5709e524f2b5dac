import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

export const everythingScript = createRequire(import.meta.url).resolve(
  '@modelcontextprotocol/server-everything/dist/index.js',
);
const scriptedServerScript = fileURLToPath(
  new URL('../../packages/testkit/fixtures/scriptedServer.mjs', import.meta.url),
);

/** A scripted server as an entry of `mcpServers`. */
export function createServerYaml(name: string, env: Record<string, string> = {}, extraYaml = ''): string {
  return [
    `  ${name}:`,
    `    command: ${JSON.stringify(process.execPath)}`,
    `    args: [${JSON.stringify(scriptedServerScript)}]`,
    `    env: ${JSON.stringify(env)}`,
    ...(extraYaml ? [`    ${extraYaml}`] : []),
    '',
  ].join('\n');
}

/** A configuration with one scripted server. */
export const createScriptedYaml = () => `mcpServers:\n${createServerYaml('scripted')}`;
