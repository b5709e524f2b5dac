import { createFinding, type Finding } from '@behalf/contracts';
import type { ProviderSettings } from '../compile/compileProviders.ts';
import type { ServerSettings } from '../compile/serverSettings.ts';
import { LOGIN_PROVIDER, type LoginProviderInfo } from './login.ts';
import { NO_PROVIDER, checkOboTarget } from './checkOboTarget.ts';
import { checkProvider } from './checkProvider.ts';

/** Where tokens are exchanged and where they go, over the whole file. */
export function checkObo(
  servers: readonly ServerSettings[],
  providers: readonly ProviderSettings[],
  { login, graphScopes }: { readonly login: LoginProviderInfo | null; readonly graphScopes: string },
): { errors: Finding[]; warnings: Finding[] } {
  const tokenExchangeProviders = new Set(
    servers.flatMap((server) =>
      'obo' in server && server.obo?.grant === 'token-exchange'
        ? [server.obo.provider ?? LOGIN_PROVIDER]
        : [],
    ),
  );
  const errors = providers.flatMap((provider) => checkProvider(provider, { login, tokenExchangeProviders }));
  const warnings: Finding[] = [];
  const context = { providers, login, graphScopes, declaredServers: servers };
  for (const server of servers) {
    const problem = checkOboTarget(server, { ...context, authority: 'operator' });
    if (!problem) continue;
    const { path, code, message, suggestion } = problem;
    // The identity provider may be set up after the servers: they stay, and calls say what is missing.
    const findings = code === NO_PROVIDER ? warnings : errors;
    findings.push(createFinding(['mcpServers', server.name, ...path], code, message, suggestion));
  }
  return { errors, warnings };
}
