import { finding, type Finding } from '@behalf/contracts';
import type { ProviderSettings } from '../compile/compileProviders.ts';
import type { ServerSettings } from '../compile/serverSettings.ts';
import { LOGIN, type LoginFacts } from './login.ts';
import { NO_PROVIDER, oboTargetProblem } from './oboTargetProblem.ts';
import { providerRules } from './providerRules.ts';

/** Where tokens are exchanged and where they go, over the whole file. */
export function checkObo(
  servers: readonly ServerSettings[],
  providers: readonly ProviderSettings[],
  { login, graphScopes }: { readonly login: LoginFacts | null; readonly graphScopes: string },
): { errors: Finding[]; warnings: Finding[] } {
  const speakTokenExchange = new Set(
    servers.flatMap((server) =>
      'obo' in server && server.obo?.grant === 'token-exchange' ? [server.obo.provider ?? LOGIN] : [],
    ),
  );
  const errors = providers.flatMap((provider) => providerRules(provider, { login, speakTokenExchange }));
  const warnings: Finding[] = [];
  const around = { providers, login, graphScopes, declared: servers };
  for (const server of servers) {
    const found = oboTargetProblem(server, { ...around, by: 'operator' });
    if (!found) continue;
    const { path, code, message, suggestion } = found;
    // The identity provider may be set up after the servers: they stay, and calls say what is missing.
    const list = code === NO_PROVIDER ? warnings : errors;
    list.push(finding(['mcpServers', server.name, ...path], code, message, suggestion));
  }
  return { errors, warnings };
}
