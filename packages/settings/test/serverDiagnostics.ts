import { loadSettings } from '../src/index.ts';

export type FoundCodes = [path: string, code: string][];

export function findingCodes(value: unknown, env: Record<string, string> = {}): FoundCodes {
  const result = loadSettings(JSON.stringify(value), { env });
  return result.ok ? [] : result.diagnostics.map(({ path, code }) => [path, code]);
}

/** What is wrong with one definition, paths below `mcpServers.s`. */
export function serverFindings(
  definition: Record<string, unknown>,
  env: Record<string, string> = {},
): FoundCodes {
  return findingCodes({ mcpServers: { s: definition } }, env).map(([path, code]) => [
    path.replace(/^mcpServers\.s\.?/, ''),
    code,
  ]);
}

export function loadServer(definition: Record<string, unknown>, env: Record<string, string> = {}) {
  const result = loadSettings(JSON.stringify({ mcpServers: { s: definition } }), { env });
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics));
  return { server: result.settings.servers[0]!, warnings: result.warnings };
}

export const httpServer = { type: 'streamable-http', url: 'https://s.example/mcp' };
