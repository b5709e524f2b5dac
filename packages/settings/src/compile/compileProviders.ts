import {
  didYouMean,
  finding,
  matchesTarget,
  urlProblem,
  type Finding,
  type IdentityProvider,
} from '@behalf/contracts';
import { literalText } from '../template/template.ts';
import type { ServerSettings } from './serverSettings.ts';
import type { Texts } from './texts.ts';

export type ProviderSettings = Readonly<IdentityProvider & { name: string }>;

/** Providers with their variables filled in. */
export function compileProviders(
  providers: Readonly<Record<string, IdentityProvider>>,
  texts: Texts,
): ProviderSettings[] {
  return Object.entries(providers).map(([name, provider]) => {
    const path = ['identityProviders', name];
    const filled: Record<string, unknown> = { ...provider, name };
    for (const [key, value] of Object.entries(provider)) {
      if (typeof value === 'string') filled[key] = texts.plain(value, [...path, key]);
    }
    for (const key of ['issuer', 'authority', 'tokenEndpoint'] as const) {
      const text = filled[key];
      if (typeof text !== 'string' || text === '') continue;
      const problem = urlProblem(text, ['https:', 'http:']);
      if (problem) texts.findings.push(finding([...path, key], 'url', problem));
    }
    return filled as unknown as ProviderSettings;
  });
}

/** Every OBO server must name a provider that exists and, where the provider lists targets, be one of them. */
export function oboTargets(
  servers: readonly ServerSettings[],
  providers: readonly ProviderSettings[],
): Finding[] {
  return servers.flatMap((server) => {
    if ((server.type !== 'sse' && server.type !== 'streamable-http') || server.obo?.provider === undefined)
      return [];
    const path = ['mcpServers', server.name, 'obo'];
    const { provider: name, scopes } = server.obo;
    const provider = providers.find((candidate) => candidate.name === name);
    if (!provider) {
      const near = didYouMean(
        name,
        providers.map((candidate) => candidate.name),
      );
      return [
        finding(
          [...path, 'provider'],
          'provider_unknown',
          'is not an entry of identityProviders',
          near ?? 'add it there',
        ),
      ];
    }
    if (provider.targets && !matchesTarget(provider.targets, scopes, literalText(server.url) ?? '')) {
      return [
        finding(
          path,
          'obo_target',
          `these scopes may not go to this address by identityProviders.${name}.targets`,
          'add the scopes and the origin there, or correct them here',
        ),
      ];
    }
    return [];
  });
}
