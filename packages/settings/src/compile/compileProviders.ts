import type { IdentityProvider, Path } from '@behalf/contracts';
import type { Texts } from './texts.ts';

export type ProviderSettings = Readonly<IdentityProvider & { name: string }>;

/** Providers with their variables filled in, wherever a text stands. */
export function compileProviders(
  providers: Readonly<Record<string, IdentityProvider>>,
  texts: Texts,
): ProviderSettings[] {
  return Object.entries(providers).map(([name, provider]) => {
    const filled = fill(provider, ['identityProviders', name], texts);
    return { ...(filled as IdentityProvider), name };
  });
}

/** A section with its variables filled in, wherever a text stands. */
export function fillTexts<T>(value: T, path: Path, texts: Texts): T {
  return fill(value, path, texts) as T;
}

function fill(value: unknown, path: Path, texts: Texts): unknown {
  if (typeof value === 'string') return texts.plain(value, path);
  if (Array.isArray(value)) return value.map((item, index) => fill(item, [...path, index], texts));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, fill(item, [...path, key], texts)]),
  );
}
