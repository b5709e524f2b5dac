import { type Finding, type IdentityProvider, type Path, createFinding, didYouMean } from '@behalf/contracts';
import { type EnvRecord, resolveEnv } from '../template/resolveEnv.ts';
import {
  type Template,
  builtInPlaceholders,
  listPlaceholders,
  parseTemplate,
  readLiteralText,
} from '../template/template.ts';

/** Turns the texts of the file into templates, and remembers what was wrong and which variables were used. */
export interface TextCompiler {
  /** Placeholders allowed; a user's variables only as far as they are declared. */
  compileTemplate(text: string, path: Path, declared: readonly string[]): Template;
  /** `${NAME}` alone: a program to run, a proxy, a scope is never chosen by user data. */
  compileLiteral(text: string, path: Path): string;
  readonly findings: Finding[];
  readonly variableNames: Set<string>;
}

export function createTextCompiler(env: EnvRecord): TextCompiler {
  const findings: Finding[] = [];
  const variableNames = new Set<string>();

  function compile(text: string, path: Path): Template {
    const parsed = parseTemplate(text);
    if (!parsed.ok) {
      const { code, message, suggestion } = parsed.problem;
      findings.push(createFinding(path, code, message, suggestion));
      return [];
    }
    const resolved = resolveEnv(parsed.template, env);
    if (!resolved.ok) {
      findings.push(
        ...resolved.problems.map(({ code, message, suggestion }) =>
          createFinding(path, code, message, suggestion),
        ),
      );
      return [];
    }
    for (const name of resolved.variables) variableNames.add(name);
    return resolved.template;
  }

  return {
    findings,
    variableNames,
    compileTemplate(text, path, declared) {
      const template = compile(text, path);
      for (const { kind, name } of listPlaceholders(template)) {
        if (kind !== 'userVar' || declared.includes(name)) continue;
        const near = didYouMean(name, [...declared, ...builtInPlaceholders]);
        findings.push(
          createFinding(
            path,
            'variable_undeclared',
            `{{${name}}} is not declared`,
            near ?? `declare ${name} under customUserVars`,
          ),
        );
      }
      return template;
    },
    compileLiteral(text, path) {
      const value = readLiteralText(compile(text, path));
      if (value === undefined) {
        findings.push(
          createFinding(
            path,
            'placeholder_forbidden',
            'may contain ${NAME} but no {{...}}',
            'remove the placeholder',
          ),
        );
      }
      return value ?? '';
    },
  };
}

/** What a text looks like with users' values stood in for, for checks of its form. */
export function createProbeExpander(env: EnvRecord): (text: string) => string | undefined {
  return (text) => {
    const parsed = parseTemplate(text);
    const resolved = parsed.ok ? resolveEnv(parsed.template, env) : undefined;
    if (!resolved?.ok) return undefined;
    return resolved.template.map((part) => (part.kind === 'literal' ? part.text : PROBE_VALUE)).join('');
  };
}

/** A plain word, valid wherever a value may stand. */
const PROBE_VALUE = 'placeholder';

export type ProviderSettings = Readonly<IdentityProvider & { name: string }>;

/** Providers with their variables filled in, wherever a text stands. */
export function compileProviders(
  providers: Readonly<Record<string, IdentityProvider>>,
  textCompiler: TextCompiler,
): ProviderSettings[] {
  return Object.entries(providers).map(([name, provider]) => {
    const expanded = expandValue(provider, ['identityProviders', name], textCompiler);
    return { ...(expanded as IdentityProvider), name };
  });
}

/** A section with its variables filled in, wherever a text stands. */
export function expandTexts<T>(value: T, path: Path, textCompiler: TextCompiler): T {
  return expandValue(value, path, textCompiler) as T;
}

function expandValue(value: unknown, path: Path, textCompiler: TextCompiler): unknown {
  if (typeof value === 'string') return textCompiler.compileLiteral(value, path);
  if (Array.isArray(value))
    return value.map((item, index) => expandValue(item, [...path, index], textCompiler));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, expandValue(item, [...path, key], textCompiler)]),
  );
}
