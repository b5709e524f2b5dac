import { checkConfig, type Finding } from '@behalf/contracts';
import { compileEndpoints } from './compile/compileEndpoints.ts';
import { compileProviders, oboTargets } from './compile/compileProviders.ts';
import { compileServer } from './compile/compileServer.ts';
import { createProbe, createTexts } from './compile/texts.ts';
import { deepFreeze } from './deepFreeze.ts';
import type { Settings } from './settings.ts';
import type { EnvRecord } from './template/resolveEnv.ts';

export interface BuiltSettings {
  /** Absent when there are errors. */
  settings?: Settings;
  errors: Finding[];
  warnings: Finding[];
  unused: string[];
  /** Names of the environment variables that went into the settings. */
  variables: string[];
}

/** From the plain value of a file to a frozen snapshot. */
export function buildSettings(value: unknown, env: EnvRecord): BuiltSettings {
  const check = checkConfig(value, createProbe(env));
  const texts = createTexts(env);
  const servers = check.servers.map(([name, server]) => compileServer(name, server, texts));
  const providers = compileProviders(check.config?.identityProviders ?? {}, texts);
  const endpoints = compileEndpoints(check.config?.endpoints, env);
  const errors = [...check.errors, ...texts.findings, ...endpoints.errors];
  // A provider whose section is wrong is not one a server forgot to declare.
  if (check.config && texts.findings.length === 0) errors.push(...oboTargets(servers, providers));
  const warnings = [...check.warnings, ...endpoints.warnings];
  const variables = [...new Set([...texts.variables, ...endpoints.variables])].sort();
  const result: BuiltSettings = { errors, warnings, unused: check.unused, variables };
  if (errors.length === 0 && check.config) {
    result.settings = deepFreeze({
      servers,
      mcpSettings: check.config.mcpSettings ?? {},
      interface: { mcpServers: check.config.interface?.mcpServers },
      endpoints: { custom: endpoints.custom, toolApproval: endpoints.toolApproval },
      identityProviders: providers,
    });
  }
  return result;
}
