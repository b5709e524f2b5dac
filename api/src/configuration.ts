import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import {
  isLoopbackHost,
  type Diagnostic,
  type Env,
  type EnvRecord,
  type Finding,
  type Path,
} from '@behalf/contracts';
import { compilePolicy, EgressPolicyError } from '@behalf/egress';
import { builtInSettings, formatDiagnostics, loadSettings, type Settings } from '@behalf/settings';
import { readCertificateAuthorities } from './certificateAuthorities.ts';
import { identityAddresses } from './identityAddresses.ts';
import type { Logger } from './logger.ts';
import { modelAddresses } from './modelAddresses.ts';

interface LoadFailure {
  ok: false;
  diagnostics: Diagnostic[];
  /** The whole explanation, for a terminal or a log. */
  message: string;
}
export type ReloadResult = { ok: true } | LoadFailure;

/** What runs, and where it came from. */
interface Snapshot {
  settings: Settings;
  /** The servers as the file has them. */
  definitions: Readonly<Record<string, unknown>>;
  source: 'file' | 'built-in';
  /** Environment variables that the file names. */
  variables: readonly string[];
  /** The whole file with a mask for every secret. */
  redacted: Readonly<Record<string, unknown>>;
  warnings: readonly Diagnostic[];
}

/** The running configuration: one frozen snapshot, swapped whole or not at all. */
export interface Configuration {
  current(): Settings;
  isBuiltIn(): boolean;
  /** The servers as the file has them, before anything was read into them. */
  definitions(): Readonly<Record<string, unknown>>;
  variables(): readonly string[];
  /** What runs, for people to look at: without secrets, and what the file was told when it was read. */
  describe(): { file: string | null } & Pick<Snapshot, 'redacted' | 'warnings'>;
  /** Reads the file again. One that is invalid, unreadable or gone changes nothing. Never throws. */
  reload(): ReloadResult;
  onChange(listener: (settings: Settings) => void): void;
}

export interface ConfigurationParts {
  env: Env;
  record: EnvRecord;
  logger: Logger;
}

/** There is nothing valid to start with; the message explains all of it. */
export class InvalidConfigurationError extends Error {
  override readonly name = 'ConfigurationInvalid';
}

export function createConfiguration({ env, record, logger }: ConfigurationParts): Configuration {
  const file = env.CONFIG_PATH;
  // Who names a file means that file; without a name its absence means "nothing configured yet".
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
    // The sample server is for one person at this machine, not for a network.
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
    describe() {
      const { source, redacted, warnings } = current;
      return { file: source === 'file' ? file : null, redacted, warnings };
    },
    reload() {
      // A file that is gone for a moment must not put the sample server in place of the operator's own.
      const next = load(!hasExplicitPath && current.source === 'built-in');
      if (!next.ok) return next;
      current = next.snapshot;
      for (const listener of listeners) listener(current.settings);
      return { ok: true };
    },
    onChange: (listener) => void listeners.push(listener),
  };
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

/** What the door out would refuse later is refused here, with its place. */
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

/** By absolute paths, because the child has no PATH. */
function sampleServer(): { command: string; args: string[] } {
  const script = createRequire(import.meta.url).resolve(
    '@modelcontextprotocol/server-everything/dist/index.js',
  );
  return { command: process.execPath, args: [script, 'stdio'] };
}
