import type { IdentityProvider, Path } from '@behalf/contracts';
import type { TextCompiler } from './textCompiler.ts';

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
