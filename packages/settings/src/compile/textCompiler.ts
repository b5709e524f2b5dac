import { type Finding, type IdentityProvider, type Path, createFinding, didYouMean } from '@behalf/contracts';
import { type EnvRecord, resolveEnv } from '../template/resolveEnv.ts';
import {
  type Template,
  builtInPlaceholders,
  listPlaceholders,
  parseTemplate,
  readLiteralText,
} from '../template/template.ts';

/** Compiles the texts of the file to templates. Records problems and the variables used. */
export interface TextCompiler {
  /** Allows placeholders. User variables must be declared. */
  compileTemplate(text: string, path: Path, declared: readonly string[]): Template;
  /** Allows `${NAME}` only: user data must not choose a program, a proxy or a scope. */
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

/** Substitutes sample values for placeholders, so that the form of a text can be validated. */
export function createProbeExpander(env: EnvRecord): (text: string) => string | undefined {
  return (text) => {
    const parsed = parseTemplate(text);
    const resolved = parsed.ok ? resolveEnv(parsed.template, env) : undefined;
    if (!resolved?.ok) return undefined;
    return resolved.template.map((part) => (part.kind === 'literal' ? part.text : PROBE_VALUE)).join('');
  };
}

/** A word that is valid in every position of a value. */
const PROBE_VALUE = 'placeholder';

export type ProviderSettings = Readonly<IdentityProvider & { name: string }>;

/** Substitutes variables in all texts of the providers. */
export function compileProviders(
  providers: Readonly<Record<string, IdentityProvider>>,
  textCompiler: TextCompiler,
): ProviderSettings[] {
  return Object.entries(providers).map(([name, provider]) => {
    const expanded = expandValue(provider, ['identityProviders', name], textCompiler);
    return { ...(expanded as IdentityProvider), name };
  });
}

/** Substitutes variables in all texts of a section. */
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
