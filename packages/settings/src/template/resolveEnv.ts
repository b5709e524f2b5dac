import { secretVariableNames } from '@behalf/contracts';
import type { RawTemplate, Template } from './template.ts';

export type EnvRecord = Readonly<Record<string, string | undefined>>;

export interface EnvProblem {
  code: 'variable_secret' | 'variable_unset';
  message: string;
  suggestion: string;
  variable: string;
}

export type ResolvedTemplate =
  { ok: true; template: Template; variables: string[] } | { ok: false; problems: EnvProblem[] };

/**
 * Substitutes environment variables. A value is literal text even if it contains `{{...}}`: the environment can
 * neither request a user's token nor hide that a server needs one.
 */
export function resolveEnv(template: RawTemplate, env: EnvRecord): ResolvedTemplate {
  const parts: Template[number][] = [];
  const variables: string[] = [];
  const problems: EnvProblem[] = [];
  for (const part of template) {
    if (part.kind !== 'env') {
      parts.push(part);
      continue;
    }
    const { name, fallback } = part;
    if (secretVariableNames.has(name)) {
      problems.push({
        code: 'variable_secret',
        message: `\${${name}} contains a secret of the gateway itself and is never expanded`,
        suggestion: 'use a separate variable',
        variable: name,
      });
      continue;
    }
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    const isUsable = value !== undefined && (value !== '' || fallback?.appliesWhenEmpty === false);
    const text = isUsable ? value : fallback?.text;
    if (text === undefined) {
      problems.push({
        code: 'variable_unset',
        message: `the environment variable ${name} is ${value === '' ? 'empty' : 'not set'}`,
        suggestion: `set it, or write \${${name}:-default}`,
        variable: name,
      });
      continue;
    }
    variables.push(name);
    parts.push({ kind: 'literal', text });
  }
  return problems.length > 0
    ? { ok: false, problems }
    : { ok: true, template: mergeLiterals(parts), variables };
}

/** Joins adjacent literals. */
function mergeLiterals(parts: Template): Template {
  const merged: Template[number][] = [];
  for (const part of parts) {
    const previous = merged.at(-1);
    if (part.kind === 'literal' && previous?.kind === 'literal')
      merged[merged.length - 1] = { kind: 'literal', text: previous.text + part.text };
    else merged.push(part);
  }
  return merged;
}
