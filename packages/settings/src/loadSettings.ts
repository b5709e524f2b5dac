import { parseEnv } from 'node:util';
import type { Diagnostic, Finding } from '@behalf/contracts';
import { type Settings, buildSettings, deepFreeze } from './buildSettings.ts';
import { redactConfig } from './redact/redactConfig.ts';
import type { EnvRecord } from './template/resolveEnv.ts';
import { readYaml } from './yaml/readYaml.ts';

export type SettingsResult =
  | {
      ok: true;
      settings: Settings;
      /** The plain definitions of `mcpServers` by name, as they were written: what overrides are laid over. */
      definitions: Readonly<Record<string, unknown>>;
      /** The whole file with a mask for every secret, for people to look at. */
      redacted: Readonly<Record<string, unknown>>;
      warnings: Diagnostic[];
      /** LibreChat keys without effect, each once. */
      unused: string[];
      /** Environment variables the file used: none of them is to be called ignored. */
      variables: string[];
    }
  | { ok: false; diagnostics: Diagnostic[] };

interface SettingsOptions {
  env: EnvRecord;
  /** What others have to say against settings that are well formed: told with path and line like the rest. */
  check?: (settings: Settings) => readonly Finding[];
}

/** The text of a librechat.yaml to a frozen snapshot, or everything that is wrong with it. Never throws. */
export function loadSettings(text: string, { env, check = () => [] }: SettingsOptions): SettingsResult {
  const yaml = readYaml(text);
  if (!yaml.ok) return yaml;
  const built = buildSettings(yaml.value, env);
  if (!built.settings) return { ok: false, diagnostics: sortByLine(built.errors.map(yaml.locate)) };
  const findings = check(built.settings);
  if (findings.length > 0) return { ok: false, diagnostics: sortByLine(findings.map(yaml.locate)) };
  return {
    ok: true,
    settings: built.settings,
    definitions: deepFreeze(readDefinitions(yaml.value)),
    redacted: deepFreeze(redactConfig(yaml.value)),
    warnings: sortByLine(built.warnings.map(yaml.locate)),
    unused: built.unused,
    variables: built.variables,
  };
}

/** Only of a file that is valid, so each of them is a definition. */
function readDefinitions(value: unknown): Record<string, unknown> {
  const { mcpServers } = value as { mcpServers?: Record<string, unknown> | null };
  return mcpServers ?? {};
}

function sortByLine(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  return [...diagnostics].sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
}

/** The one message for a terminal: a line per diagnostic with place, path, reason and what to do. */
export function formatDiagnostics(diagnostics: readonly Diagnostic[], filename: string): string {
  return diagnostics
    .map(({ path, message, suggestion, line }) => {
      const location = line === undefined ? filename : `${filename}:${line}`;
      const reason = suggestion === undefined ? message : `${message}; ${suggestion}`;
      return [location, path, reason].filter((part) => part !== '').join('  ');
    })
    .join('\n');
}

/** The environment with a `.env` file's text beneath it: what the process was given wins. */
export function mergeEnvFile(envFileText: string | undefined, env: EnvRecord): EnvRecord {
  return envFileText === undefined ? env : { ...parseEnv(envFileText), ...env };
}
