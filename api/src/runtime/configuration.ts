import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import {
  type Diagnostic,
  type Env,
  type EnvRecord,
  type Finding,
  type Path,
  createFinding,
  isLoopbackHost,
} from '@behalf/contracts';
import { EgressPolicyError, compilePolicy } from '@behalf/egress';
import { type Settings, builtInSettings, formatDiagnostics, loadSettings } from '@behalf/settings';
import type { ChangeFeed } from '@behalf/gateway/ports';
import type { Logger } from './logger.ts';

interface LoadFailure {
  ok: false;
  diagnostics: Diagnostic[];
  /** All diagnostics as text, for a terminal or a log. */
  message: string;
}
export type ReloadResult = { ok: true } | LoadFailure;

/** A loaded configuration. */
interface Snapshot {
  settings: Settings;
  /** The servers as the file has them. */
  definitions: Readonly<Record<string, unknown>>;
  source: 'file' | 'built-in';
  /** The environment variables that the file references. */
  variables: readonly string[];
  /** The content of the file with all secrets masked. */
  redacted: Readonly<Record<string, unknown>>;
  warnings: readonly Diagnostic[];
}

/** The current configuration: one immutable snapshot. A reload replaces the whole snapshot or nothing. */
export interface Configuration {
  current(): Settings;
  isBuiltIn(): boolean;
  /** The definitions of the servers as written in the file. */
  definitions(): Readonly<Record<string, unknown>>;
  variables(): readonly string[];
  /** The values of these variables, which the log must redact. */
  secrets(): readonly string[];
  /** For the administration page: without secrets, with the warnings of the last load. */
  describe(): { file: string | null } & Pick<Snapshot, 'redacted' | 'warnings'>;
  /**
   * Reads the file again. If the file is invalid, unreadable or missing, the current configuration stays active. Never
   * throws.
   */
  reload(): ReloadResult;
  onChange(listener: (settings: Settings) => void): void;
  /** A value that is computed from the settings now and after each reload. */
  derive<T>(compute: (settings: Settings) => T): () => T;
}

interface ConfigurationParts {
  env: Env;
  record: EnvRecord;
  logger: Logger;
}

/** The process cannot start with this configuration. The message contains all diagnostics. */
export class InvalidConfigurationError extends Error {
  override readonly name = 'ConfigurationInvalid';
}

export function createConfiguration({ env, record, logger }: ConfigurationParts): Configuration {
  const file = env.CONFIG_PATH;
  // If CONFIG_PATH is set, the file must exist. Otherwise a missing file means that nothing is configured.
  const hasExplicitPath = (record['CONFIG_PATH'] ?? '').trim() !== '';
  const listeners: ((settings: Settings) => void)[] = [];

  function load(isOptional: boolean): { ok: true; snapshot: Snapshot } | LoadFailure {
    const text = readText(file);
    if (typeof text !== 'string') {
      if (text.code === 'ENOENT' && isOptional) return { ok: true, snapshot: defaultSnapshot() };
      return unreadable(file, text.code);
    }
    const loaded = loadSettings(text, { env: record, check: findProblems });
    if (!loaded.ok) return { ...loaded, message: formatDiagnostics(loaded.diagnostics, file) };
    if (loaded.warnings.length > 0) logger.warn(formatDiagnostics(loaded.warnings, file));
    if (loaded.unused.length > 0)
      logger.info('LibreChat settings without effect in Behalf', { keys: loaded.unused });
    const { settings, definitions, variables, redacted, warnings } = loaded;
    return { ok: true, snapshot: { settings, definitions, source: 'file', variables, redacted, warnings } };
  }

  function defaultSnapshot(): Snapshot {
    if (isLoopbackHost(env.HOST)) {
      logger.info('No configuration file: using the built-in configuration with the sample server', { file });
      const settings = builtInSettings(sampleServer());
      return builtInSnapshot(settings);
    }
    // The sample server is for a single user on this host, so it is not offered on a network.
    logger.warn('No configuration file and not bound to loopback: running without servers', { file });
    const empty = loadSettings('{}', { env: {} });
    if (!empty.ok) throw new Error('The empty configuration must be valid');
    return builtInSnapshot(empty.settings);
  }

  const first = load(!hasExplicitPath);
  if (!first.ok) throw new InvalidConfigurationError(first.message);
  let current = first.snapshot;

  return {
    current: () => current.settings,
    isBuiltIn: () => current.source === 'built-in',
    definitions: () => current.definitions,
    variables: () => current.variables,
    secrets: () => current.variables.flatMap((name) => record[name] ?? []),
    describe() {
      const { source, redacted, warnings } = current;
      return { file: source === 'file' ? file : null, redacted, warnings };
    },
    reload() {
      // A file that is missing for a moment must not replace the operator’s servers by the sample server.
      const next = load(!hasExplicitPath && current.source === 'built-in');
      if (!next.ok) return next;
      current = next.snapshot;
      for (const listener of listeners) listener(current.settings);
      return { ok: true };
    },
    onChange: (listener) => void listeners.push(listener),
    derive(compute) {
      let value = compute(current.settings);
      listeners.push((settings) => {
        value = compute(settings);
      });
      return () => value;
    },
  };
}

export function warnAboutUnusedVariables(
  configuration: Pick<Configuration, 'variables'>,
  /** LibreChat variables that are set and that the gateway does not read. */
  ignored: readonly string[],
  logger: Pick<Logger, 'warn'>,
): void {
  const unused = ignored.filter((name) => !configuration.variables().includes(name));
  if (unused.length > 0) logger.warn('LibreChat variables without effect in Behalf', { variables: unused });
}

interface ReloaderParts {
  readonly configuration: Pick<Configuration, 'reload'>;
  readonly changes: ChangeFeed;
  readonly logger: Pick<Logger, 'info' | 'error'>;
  /** Identifies this process. */
  readonly replica: string;
}

/** Reloads the configuration in this process, and keeps the replicas in step. */
export interface Reloader {
  reload(requestedBy: string): ReloadResult;
  /** Makes the other replicas reload. */
  announce(): Promise<void>;
  stop(): void;
}

export function createReloader({ configuration, changes, logger, replica }: ReloaderParts): Reloader {
  function reload(requestedBy: string): ReloadResult {
    const result = configuration.reload();
    if (result.ok) logger.info('Configuration reloaded', { requestedBy });
    else
      logger.error(`Configuration not reloaded; the current configuration stays active. ${result.message}`, {
        requestedBy,
      });
    return result;
  }

  const stop = changes.subscribe(({ topic, id }) => {
    // A process ignores its own notification. A wildcard notification may also be its own; reloading an unchanged file is harmless.
    if (topic === 'settings' && id !== replica) reload('another replica');
  });
  return { reload, announce: () => changes.publish({ topic: 'settings', id: replica }), stop };
}

function builtInSnapshot(settings: Settings): Snapshot {
  return {
    ...{ settings, source: 'built-in', definitions: {}, variables: [], redacted: {}, warnings: [] },
  };
}

function readText(file: string): string | { code: string } {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    return { code: (error as NodeJS.ErrnoException).code ?? 'unknown reason' };
  }
}

function unreadable(file: string, code: string): LoadFailure {
  const reason = code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${code})`;
  const suggestion = 'correct CONFIG_PATH, or unset it and remove the file to run the built-in configuration';
  const message = `${file}: ${reason}; ${suggestion}`;
  return {
    ok: false,
    diagnostics: [{ path: 'CONFIG_PATH', code: 'unreadable', message: reason, suggestion }],
    message,
  };
}

/** Reports values that egress would refuse later, with their path in the file. */
function findProblems(settings: Settings): Finding[] {
  return [
    ...policyProblems(settings),
    ...providerProblems(settings),
    ...modelProblems(settings),
    ...readCertificateAuthorities(settings).problems,
  ];
}

function providerProblems(settings: Settings): Finding[] {
  return identityAddresses(settings).flatMap((address) => originProblems('identityOrigins', address));
}

function modelProblems(settings: Settings): Finding[] {
  return modelAddresses(settings).flatMap((address) => originProblems('modelOrigins', address));
}

function originProblems(
  originKind: 'identityOrigins' | 'modelOrigins',
  { path, url }: { path: Path; url: string },
): Finding[] {
  try {
    compilePolicy({ [originKind]: [url] });
    return [];
  } catch (error) {
    if (!(error instanceof EgressPolicyError)) throw error;
    return [{ path, code: 'url', message: error.reason }];
  }
}

function policyProblems({ mcpSettings }: Settings): Finding[] {
  try {
    const { allowedDomains = [], allowedAddresses = [], operatorAddresses = [] } = mcpSettings;
    compilePolicy({ allowedDomains, allowedAddresses, operatorAddresses });
    return [];
  } catch (error) {
    if (!(error instanceof EgressPolicyError)) throw error;
    return [{ path: ['mcpSettings', ...error.path], code: 'wrong_value', message: error.reason }];
  }
}

/** Absolute paths, because the child process has no PATH. */
function sampleServer(): { command: string; args: string[] } {
  const script = createRequire(import.meta.url).resolve(
    '@modelcontextprotocol/server-everything/dist/index.js',
  );
  return { command: process.execPath, args: [script, 'stdio'] };
}

/** The PEM certificates of each file that a `caFile` setting names. */
export type CertificateAuthorities = ReadonlyMap<string, string>;

interface CertificateAuthoritiesResult {
  /** The files that could be read. A missing file means that no certificate is trusted. */
  readonly authorities: CertificateAuthorities;
  readonly problems: Finding[];
}

/** Reads each file once. */
export function readCertificateAuthorities(settings: Settings): CertificateAuthoritiesResult {
  const results = new Map<string, { pem: string } | { problem: [code: string, message: string] }>();
  const authorities = new Map<string, string>();
  const problems: Finding[] = [];
  for (const { file, path } of caFilesOf(settings)) {
    const result = results.get(file) ?? readCertificates(file);
    results.set(file, result);
    if ('pem' in result) authorities.set(file, result.pem);
    else
      problems.push(
        createFinding(path, ...result.problem, 'name a PEM file with the authority’s certificate'),
      );
  }
  return { authorities, problems };
}

function caFilesOf({ servers, identityProviders, authorizationServer }: Settings): {
  file: string;
  path: Path;
}[] {
  const documentCaFile = authorizationServer?.caFile;
  const configuredFiles: readonly (readonly [section: string, name: string, file: string | undefined])[] = [
    ...servers.map((server) => {
      const file = server.type === 'stdio' ? undefined : server.caFile;
      return ['mcpServers', server.name, file] as const;
    }),
    ...identityProviders.map(({ name, caFile }) => ['identityProviders', name, caFile] as const),
  ];
  const files = configuredFiles.flatMap(([section, name, file]) =>
    file === undefined ? [] : [{ file, path: [section, name, 'caFile'] }],
  );
  return documentCaFile === undefined
    ? files
    : [...files, { file: documentCaFile, path: ['authorizationServer', 'caFile'] }];
}

/** Matches certificates only, so that a private key in the same file is not kept in memory. */
const CERTIFICATE_PATTERN = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

function readCertificates(file: string): { pem: string } | { problem: [code: string, message: string] } {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown reason';
    return { problem: ['unreadable', `names a file that cannot be read (${code})`] };
  }
  const found = text.match(CERTIFICATE_PATTERN) ?? [];
  if (found.length === 0) return { problem: ['no_certificate', 'names a file without a PEM certificate'] };
  if (!found.every(isCertificate)) {
    return { problem: ['no_certificate', 'names a file with a malformed certificate'] };
  }
  return { pem: found.join('\n') };
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}

/** The URLs of identity providers and trusted issuers. The identity client may reach them in private networks as well. */
export function identityAddresses({ identityProviders, authorizationServer }: Settings): {
  path: Path;
  url: string;
}[] {
  const exchanges = identityProviders.flatMap(
    ({ name, issuer, authority, tokenEndpoint, resourceServers = [] }) => {
      const path = ['identityProviders', name];
      return [
        ...toEntries(path, { issuer, authority, tokenEndpoint }),
        ...resourceServers.flatMap(({ issuer, tokenEndpoint }, index) =>
          toEntries([...path, 'resourceServers', index], { issuer, tokenEndpoint }),
        ),
      ];
    },
  );
  const trustedIssuers = (authorizationServer?.idJagIssuers ?? []).map((url, index) => ({
    path: ['authorizationServer', 'idJagIssuers', index],
    url,
  }));
  return [...exchanges, ...trustedIssuers];
}

function toEntries(
  path: Path,
  urls: Readonly<Record<string, string | undefined>>,
): { path: Path; url: string }[] {
  return Object.entries(urls).flatMap(([key, url]) =>
    url === undefined ? [] : [{ path: [...path, key], url }],
  );
}

/** The URLs of chat models. The chat may reach them in private networks as well. */
export function modelAddresses({ endpoints }: Settings): { path: Path; url: string }[] {
  return endpoints.custom.map(({ baseURL, position }) => ({
    path: ['endpoints', 'custom', position, 'baseURL'],
    url: baseURL,
  }));
}

/** The CA file of the identity provider with this issuer; undefined for the public CAs. */
export function findCaFile({ identityProviders }: Settings, issuer: string): string | undefined {
  return identityProviders.find((provider) => provider.issuer === issuer)?.caFile;
}
