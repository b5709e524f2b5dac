import type { z } from 'zod';
import { didYouMean } from '../config/didYouMean.ts';
import type { Diagnostic } from '../errors/diagnostic.ts';
import { ignoredVariables } from './librechatVariables.ts';
import type { Variable } from './variable.ts';
import { envVariables, type VariableName } from './variables.ts';

type Value<V extends Variable> = V extends { default: string }
  ? z.output<V['schema']>
  : z.output<V['schema']> | undefined;

/** The typed environment with aliases and defaults applied, by variable name. */
export type Env = { readonly [K in VariableName]: Value<(typeof envVariables)[K]> };

export type EnvRecord = Readonly<Record<string, string | undefined>>;

export type EnvResult =
  { ok: true; env: Env; ignored: string[] } | { ok: false; diagnostics: Diagnostic[]; ignored: string[] };

/** Prefixes of Behalf's own variables. An unknown variable with this prefix is a misspelling. */
const OWN_PREFIX = /^(BEHALF|OPENID)_/;
/** Variables of the tests, which the gateway does not read. */
const TEST_PREFIX = /^BEHALF_TEST_/;

/** Parses the environment. Pure: the caller passes it in. Diagnostics never contain a value. */
export function parseEnv(record: EnvRecord): EnvResult {
  const diagnostics: Diagnostic[] = [];
  const values: Partial<Record<VariableName, unknown>> = {};
  for (const [name, variable] of Object.entries<Variable>(envVariables)) {
    const found = readVariable(record, name, variable);
    if (found === undefined) continue;
    const parsed = variable.schema.safeParse(found.text);
    if (parsed.success) values[name as VariableName] = parsed.data;
    else {
      for (const { message } of parsed.error.issues) {
        const [reason = message, suggestion] = message.split('; ');
        diagnostics.push(
          diagnostic(found.name, 'wrong_value', reason, suggestion ?? formatExample(variable)),
        );
      }
    }
  }
  diagnostics.push(...findMisspelled(record));
  const env = values as unknown as Env;
  if (diagnostics.length === 0) diagnostics.push(...checkCombinations(env, record));
  const ignored = ignoredVariables.filter((name) => isSet(record[name])).sort();
  if (diagnostics.length > 0) return { ok: false, diagnostics, ignored };
  return { ok: true, env: Object.freeze(resolveRedis(env, record)), ignored };
}

function isSet(text: string | undefined): text is string {
  return text !== undefined && text.trim() !== '';
}

function readVariable(
  record: EnvRecord,
  name: string,
  variable: Variable,
): { name: string; text: string } | undefined {
  const { alias } = variable;
  // By convention, the lower-case proxy variable takes precedence, and an empty one disables the upper-case one.
  if (alias !== undefined && alias === name.toLowerCase() && record[alias] !== undefined) {
    return isSet(record[alias]) ? { name: alias, text: record[alias].trim() } : undefined;
  }
  if (isSet(record[name])) return { name, text: record[name].trim() };
  if (alias !== undefined && isSet(record[alias])) return { name: alias, text: record[alias].trim() };
  return variable.default === undefined ? undefined : { name, text: variable.default };
}

function formatExample(variable: Variable): string | undefined {
  return variable.default === undefined ? undefined : `for example ${variable.default}`;
}

function findMisspelled(record: EnvRecord): Diagnostic[] {
  const known = [...Object.keys(envVariables), ...ignoredVariables];
  return Object.keys(record)
    .filter(
      (name) =>
        OWN_PREFIX.test(name) && !TEST_PREFIX.test(name) && isSet(record[name]) && !known.includes(name),
    )
    .map((name) =>
      diagnostic(name, 'unknown_variable', 'unknown variable', didYouMean(name, known) ?? 'remove it'),
    );
}

function checkCombinations(env: Env, record: EnvRecord): Diagnostic[] {
  const diagnostics: Diagnostic[] = [];
  const reportMissing = (name: VariableName, reason: string, suggestion: string) =>
    diagnostics.push(diagnostic(name, 'missing', reason, suggestion));
  if (env.OPENID_ISSUER === undefined && (env.OPENID_CLIENT_ID ?? env.OPENID_CLIENT_SECRET) !== undefined) {
    reportMissing(
      'OPENID_ISSUER',
      'is missing, although a client is set',
      'set it, or unset OPENID_CLIENT_ID and OPENID_CLIENT_SECRET',
    );
  }
  if (
    env.OPENID_ISSUER !== undefined &&
    env.OPENID_CLIENT_ID === undefined &&
    env.OPENID_AUDIENCE === undefined
  ) {
    reportMissing(
      'OPENID_CLIENT_ID',
      'is missing, although OPENID_ISSUER is set',
      'set it to offer sign-in, or OPENID_AUDIENCE to accept bearer tokens only',
    );
  }
  if (env.OPENID_CLIENT_SECRET !== undefined && env.OPENID_CLIENT_ID === undefined) {
    reportMissing('OPENID_CLIENT_ID', 'is missing, although OPENID_CLIENT_SECRET is set', 'set it');
  }
  if (env.OPENID_INTROSPECTION === true && env.OPENID_CLIENT_SECRET === undefined) {
    reportMissing(
      'OPENID_CLIENT_SECRET',
      'is missing, although OPENID_INTROSPECTION is true',
      'set it with OPENID_ISSUER and OPENID_CLIENT_ID, or unset OPENID_INTROSPECTION',
    );
  }
  if (env.USE_REDIS === true && env.REDIS_URI === undefined) {
    reportMissing('REDIS_URI', 'is missing, although USE_REDIS is true', 'set it, or USE_REDIS=false');
  }
  const usesRedis = env.USE_REDIS !== false && env.REDIS_URI !== undefined;
  // Checked here, because the driver's exception would show the URI with its password.
  if (usesRedis && env.REDIS_CA !== undefined && !/^rediss:/i.test(env.REDIS_URI)) {
    diagnostics.push(
      diagnostic(
        'REDIS_URI',
        'wrong_value',
        'must begin with rediss:// because REDIS_CA is set',
        'correct it, or unset REDIS_CA',
      ),
    );
  }
  if ((env.MONGO_URI !== undefined || usesRedis) && env.CREDS_KEY === undefined) {
    reportMissing(
      'CREDS_KEY',
      'is required with MONGO_URI or REDIS_URI: every replica needs the same key',
      'create one with: openssl rand -hex 32',
    );
  }
  if (env.REDIS_KEY_PREFIX_VAR !== undefined && env.REDIS_KEY_PREFIX !== undefined) {
    reportMissing(
      'REDIS_KEY_PREFIX_VAR',
      'cannot be set together with REDIS_KEY_PREFIX',
      'unset one of them',
    );
  }
  if (env.REDIS_KEY_PREFIX_VAR !== undefined && !isSet(record[env.REDIS_KEY_PREFIX_VAR])) {
    reportMissing(
      'REDIS_KEY_PREFIX_VAR',
      'names a variable that is not set',
      'set that variable, or use REDIS_KEY_PREFIX',
    );
  }
  return diagnostics;
}

function resolveRedis(env: Env, record: EnvRecord): Env {
  if (env.USE_REDIS === false) return { ...env, REDIS_URI: undefined };
  if (env.REDIS_KEY_PREFIX_VAR === undefined) return env;
  return { ...env, REDIS_KEY_PREFIX: record[env.REDIS_KEY_PREFIX_VAR] };
}

function diagnostic(path: string, code: string, message: string, suggestion?: string): Diagnostic {
  return suggestion === undefined ? { path, code, message } : { path, code, message, suggestion };
}
