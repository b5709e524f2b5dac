import { checkConfig, type Finding } from '@behalf/contracts';
import { compileEndpoints } from './compile/compileEndpoints.ts';
import { compileProviders, expandTexts } from './compile/compileProviders.ts';
import { checkAuthorizationServer } from './compile/checkAuthorizationServer.ts';
import { compileServer } from './compile/compileServer.ts';
import { createProbeExpander, createTextCompiler } from './compile/textCompiler.ts';
import { deepFreeze } from './deepFreeze.ts';
import { checkObo } from './obo/checkObo.ts';
import { readGraphScopes, readLoginProviderInfo } from './obo/login.ts';
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
  const check = checkConfig(value, createProbeExpander(env));
  const textCompiler = createTextCompiler(env);
  const servers = check.servers.map(([name, server]) => compileServer(name, server, textCompiler));
  const providers = compileProviders(check.config?.identityProviders ?? {}, textCompiler);
  const authorizationServer = expandTexts(
    check.config?.authorizationServer,
    ['authorizationServer'],
    textCompiler,
  );
  const endpoints = compileEndpoints(check.config?.endpoints, env);
  const errors = [...check.errors, ...textCompiler.findings, ...endpoints.errors];
  const warnings = [...check.warnings, ...endpoints.warnings];
  // A provider whose section is wrong is not one a server forgot to declare, and a misspelt key not one that is missing.
  const areProvidersValid = !check.errors.some(({ path }) => path[0] === 'identityProviders');
  if (check.config && areProvidersValid && textCompiler.findings.length === 0) {
    const obo = checkObo(servers, providers, {
      login: readLoginProviderInfo(env),
      graphScopes: readGraphScopes(env),
    });
    errors.push(
      ...obo.errors,
      ...(authorizationServer
        ? checkAuthorizationServer(authorizationServer, readLoginProviderInfo(env))
        : []),
    );
    warnings.push(...obo.warnings);
  }
  const variables = [...new Set([...textCompiler.variableNames, ...endpoints.variableNames])].sort();
  const result: BuiltSettings = { errors, warnings, unused: check.unused, variables };
  if (errors.length === 0 && check.config) {
    result.settings = deepFreeze({
      servers,
      mcpSettings: check.config.mcpSettings ?? {},
      interface: { mcpServers: check.config.interface?.mcpServers },
      endpoints: { custom: endpoints.custom, toolApproval: endpoints.toolApproval },
      identityProviders: providers,
      authorizationServer: authorizationServer?.enabled === true ? authorizationServer : null,
    });
  }
  return result;
}
