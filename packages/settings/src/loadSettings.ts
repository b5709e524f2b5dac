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
      /** The definitions of `mcpServers` as written, by name. Overrides apply to them. */
      definitions: Readonly<Record<string, unknown>>;
      /** The whole file with every secret masked, for display. */
      redacted: Readonly<Record<string, unknown>>;
      warnings: Diagnostic[];
      /** LibreChat keys that have no effect. */
      unused: string[];
      /** The environment variables that the file used. */
      variables: string[];
    }
  | { ok: false; diagnostics: Diagnostic[] };

interface SettingsOptions {
  env: EnvRecord;
  /** Additional checks of valid settings. Their findings are reported with path and line. */
  check?: (settings: Settings) => readonly Finding[];
}

/** Loads the text of a librechat.yaml. Returns frozen settings or all problems. Never throws. */
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

/** Requires a valid file, in which every value is a definition. */
function readDefinitions(value: unknown): Record<string, unknown> {
  const { mcpServers } = value as { mcpServers?: Record<string, unknown> | null };
  return mcpServers ?? {};
}

function sortByLine(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  return [...diagnostics].sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
}

/** Formats diagnostics for a terminal: one line each with position, path, reason and suggestion. */
export function formatDiagnostics(diagnostics: readonly Diagnostic[], filename: string): string {
  return diagnostics
    .map(({ path, message, suggestion, line }) => {
      const location = line === undefined ? filename : `${filename}:${line}`;
      const reason = suggestion === undefined ? message : `${message}; ${suggestion}`;
      return [location, path, reason].filter((part) => part !== '').join('  ');
    })
    .join('\n');
}

/** Merges a `.env` file into the environment. The environment takes precedence. */
export function mergeEnvFile(envFileText: string | undefined, env: EnvRecord): EnvRecord {
  return envFileText === undefined ? env : { ...parseEnv(envFileText), ...env };
}
