import {
  type AuthorizationServer,
  type Finding,
  type InterfaceMcpServers,
  type McpSettings,
  type ToolApproval,
  checkConfig,
  checkServer,
  checkServerName,
  createFinding,
} from '@behalf/contracts';
import { checkAuthorizationServer } from './compile/checkAuthorizationServer.ts';
import { type EndpointSettings, compileEndpoints } from './compile/compileEndpoints.ts';
import { type ServerSettings, compileServer } from './compile/compileServer.ts';
import {
  type ProviderSettings,
  compileProviders,
  createProbeExpander,
  createTextCompiler,
  expandTexts,
} from './compile/textCompiler.ts';
import { checkObo } from './obo/checkOboTarget.ts';
import { readGraphScopes, readLoginProviderInfo } from './obo/login.ts';
import type { EnvRecord } from './template/resolveEnv.ts';

/** The configuration, parsed once and frozen. */
export interface Settings {
  readonly servers: readonly ServerSettings[];
  readonly mcpSettings: Readonly<McpSettings>;
  /** Only what the file contains. Absent permissions keep the stored value. */
  readonly interface: { readonly mcpServers: Readonly<InterfaceMcpServers> | undefined };
  readonly endpoints: {
    readonly custom: readonly EndpointSettings[];
    readonly toolApproval: Readonly<ToolApproval> | undefined;
  };
  readonly identityProviders: readonly ProviderSettings[];
  /** Null unless enabled. */
  readonly authorizationServer: Readonly<AuthorizationServer> | null;
}

interface BuiltSettings {
  /** Absent if there are errors. */
  settings?: Settings;
  errors: Finding[];
  warnings: Finding[];
  unused: string[];
  /** Names of the environment variables that the settings used. */
  variables: string[];
}

/** Converts the parsed YAML to frozen settings. */
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
  // If a provider section is invalid or a key is misspelled, do not also report that a provider is missing.
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

export type CompiledDefinition = { ok: true; server: ServerSettings } | { ok: false; errors: Finding[] };

/**
 * Compiles a single definition that is not in the file, in the same way as the definitions of the file. Unknown
 * keys are errors. Warnings are not reported.
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

/**
 * The settings without a configuration file: the MCP reference server, so that a new installation has tools. Its
 * URL-fetching tool reads allowed domains from its environment. A domain that never resolves (RFC 6761) allows
 * none.
 */
export function builtInSettings(everything: { command: string; args: readonly string[] }): Settings {
  const { settings, errors } = buildSettings(
    {
      mcpServers: {
        everything: {
          title: 'Everything',
          description: 'The reference MCP server, to try things with.',
          command: '${BUILT_IN_COMMAND}',
          args: everything.args.map((_, index) => `\${BUILT_IN_ARG_${index}-}`),
          env: { GZIP_ALLOWED_DOMAINS: 'invalid' },
        },
      },
    },
    // Passed as variables, so that `${` or `{{` in a path is not a placeholder.
    {
      BUILT_IN_COMMAND: everything.command,
      ...Object.fromEntries(everything.args.map((arg, index) => [`BUILT_IN_ARG_${index}`, arg])),
    },
  );
  if (!settings)
    throw new Error(
      `The built-in configuration is not valid: ${errors.map((error) => error.message).join('; ')}`,
    );
  return settings;
}

/** All users share the settings. A modification for one server must not affect another one. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const item of Object.values(value)) deepFreeze(item);
  return value;
}
