import { checkServer, createFinding, checkServerName, type Finding } from '@behalf/contracts';
import { compileServer } from './compile/compileServer.ts';
import type { ServerSettings } from './compile/serverSettings.ts';
import { createProbeExpander, createTextCompiler } from './compile/textCompiler.ts';
import { deepFreeze } from './deepFreeze.ts';
import type { EnvRecord } from './template/resolveEnv.ts';

export type CompiledDefinition = { ok: true; server: ServerSettings } | { ok: false; errors: Finding[] };

/**
 * One definition that does not stand in the file: from its plain value to what the file's own become. A key it should
 * not have is an error; what only deserves a warning in a file is not told.
 */
export function compileDefinition(
  name: string,
  value: unknown,
  { env }: { env: EnvRecord },
): CompiledDefinition {
  const path = ['mcpServers', name];
  const nameProblem = checkServerName(name);
  const check = checkServer(value, path, createProbeExpander(env));
  const errors = [
    ...(nameProblem === undefined ? [] : [createFinding(path, 'name', nameProblem, 'choose another name')]),
    ...check.errors,
    ...check.unknown,
  ];
  if (!check.server || errors.length > 0) return { ok: false, errors };
  const textCompiler = createTextCompiler(env);
  const server = compileServer(name, check.server, textCompiler);
  return textCompiler.findings.length > 0
    ? { ok: false, errors: textCompiler.findings }
    : { ok: true, server: deepFreeze(server) };
}
