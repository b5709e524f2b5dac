import {
  type ExchangeTarget,
  type Finding,
  type Obo,
  createFinding,
  didYouMean,
  matchesTarget,
  scopeList,
} from '@behalf/contracts';
import type { ServerSettings } from '../compile/compileServer.ts';
import type { ProviderSettings } from '../compile/textCompiler.ts';
import { type Template, listPlaceholders, readLiteralText } from '../template/template.ts';
import { checkProvider } from './checkProvider.ts';
import {
  type KnownLogin,
  LOGIN_PROVIDER,
  type LoginProviderInfo,
  type ResolvedProvider,
  resolveProvider,
} from './login.ts';
import { isUnencryptedRemote } from './plainHttp.ts';
import { type RestrictedResource, classifyNames, classifyScopes } from './restrictedResource.ts';

/** Checks the exchange and the target of all servers of the file. */
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
    // The identity provider may be configured later. The servers are kept, and their calls report the missing
    // provider.
    const findings = code === NO_PROVIDER ? warnings : errors;
    findings.push(createFinding(['mcpServers', server.name, ...path], code, message, suggestion));
  }
  return { errors, warnings };
}

/** The reason why tokens must not be exchanged for a server. Never contains values of the definition. */
export interface OboProblem {
  readonly code: string;
  readonly message: string;
  readonly suggestion: string;
  /** Relative to the definition of the server. */
  readonly path: readonly string[];
}

/** Who configured the URL and the scopes. Decides what is allowed without `targets`. */
export type OboAuthority = 'operator' | 'administrator' | 'user';

interface OboContext {
  readonly providers: readonly ProviderSettings[];
  readonly login: KnownLogin | null;
  /** The scopes of the token for `{{LIBRECHAT_GRAPH_ACCESS_TOKEN}}`. */
  readonly graphScopes: string;
  /**
   * The servers of the file. An unchanged token request to an unchanged URL keeps the operator's authority,
   * whatever else an override changes.
   */
  readonly declaredServers: readonly ServerSettings[];
  readonly authority: OboAuthority;
}

/** The code for a missing provider. A server with this problem is kept, and its calls report it. */
export const NO_PROVIDER = 'obo_login';

/**
 * Decides whether tokens with these scopes may go to this URL. It is the only such decision. It runs when the file
 * is loaded, when another definition is stored, and before each exchange. A stdio server has no URL.
 */
export function checkOboTarget(server: ServerSettings, context: OboContext): OboProblem | null {
  if (server.type === 'stdio') return null;
  const problems = listOboRequests(server, context.graphScopes).flatMap(
    (request) => checkRequest(server, request, context) ?? [],
  );
  return problems.find(({ code }) => code !== NO_PROVIDER) ?? problems[0] ?? null;
}

function checkRequest(server: RemoteSettings, request: OboRequest, context: OboContext): OboProblem | null {
  const { parameters, label } = request;
  const url = readLiteralText(server.url);
  if (url === undefined) {
    const message = `may not contain a placeholder together with ${label}`;
    return createProblem(['url'], 'obo_url', message, `write the full address, or remove ${label}`);
  }
  if (scopeList(parameters.scopes).length === 0) {
    return createProblem(request.scopesPath, 'missing', 'are empty', 'name a scope');
  }
  const provider = resolveProvider(parameters.provider, context.providers, context.login);
  if (provider === 'unknown') {
    const names = context.providers.map(({ name }) => name);
    const suggestion = didYouMean(parameters.provider ?? '', names) ?? 'add it there';
    return createProblem(
      ['obo', 'provider'],
      'provider_unknown',
      'is not an entry of identityProviders',
      suggestion,
    );
  }
  if (provider !== 'none' && provider.type === 'entra') {
    const field = (['grant', 'audience', 'resource'] as const).find((key) => parameters[key] !== undefined);
    if (field) {
      const message = 'is not supported for a provider of type entra, where scopes name the resource';
      return createProblem(['obo', field], 'obo_entra', message, 'remove it');
    }
  }
  if (provider !== 'none' && provider.type === 'id-jag') {
    const idJagProblem = checkIdJag(parameters, provider);
    if (idJagProblem) return idJagProblem;
  }
  if (context.authority === 'user') {
    const field = (['provider', 'grant', 'audience', 'resource'] as const).find(
      (key) => parameters[key] !== undefined,
    );
    const message = 'can be set by the operator only';
    if (field) return createProblem(['obo', field], 'operator_only', message, 'remove it');
    if ('proxy' in server && server.proxy !== undefined) {
      return createProblem(['proxy'], 'operator_only', message, `remove proxy or ${label}`);
    }
  }
  const isOperatorServer =
    context.authority === 'operator' ||
    (context.authority === 'administrator' && isDeclared(server.name, url, parameters, context));
  if (provider !== 'none' && provider.targets)
    return checkTargets(provider.name, provider.targets, { url, request, isOperatorServer });
  if (isUnencryptedRemote(url)) {
    return createProblem(
      ['url'],
      'plain_http',
      `must use https together with ${label}: http would expose the token on the network`,
      'use https, or list the origin under targets of the provider in identityProviders',
    );
  }
  const resource = isOperatorServer ? null : checkRestrictedResources(request, provider, context.login);
  if (resource) return resource;
  if (provider !== 'none') return null;
  return createProblem(
    request.path,
    NO_PROVIDER,
    'there is no provider for the token exchange: calls will be refused',
    'set OPENID_ISSUER and OPENID_CLIENT_ID, or name an entry of identityProviders in obo.provider',
  );
}

/**
 * An ID-JAG assertion may go only to the configured issuers. The exchange always has two steps, whatever the server
 * sets.
 */
function checkIdJag(
  { grant, audience }: Obo,
  { name, resourceIssuers }: ResolvedProvider,
): OboProblem | null {
  if (grant !== undefined) {
    return createProblem(
      ['obo', 'grant'],
      'obo_id_jag',
      'is not supported for a provider of type id-jag',
      'remove it',
    );
  }
  if (audience === undefined || resourceIssuers.includes(audience)) return null;
  const suggestion = didYouMean(audience, resourceIssuers) ?? 'add it there, or remove it here';
  const message = `is not an issuer of identityProviders.${name}.resourceServers`;
  return createProblem(['obo', 'audience'], 'obo_id_jag', message, suggestion);
}

/** Whether the file has this server with the same token request and the same URL. */
function isDeclared(name: string, url: string, parameters: Obo, context: OboContext): boolean {
  return context.declaredServers.some(
    (server) =>
      server.type !== 'stdio' &&
      server.name === name &&
      readLiteralText(server.url) === url &&
      listOboRequests(server, context.graphScopes).some((request) =>
        isSameToken(request.parameters, parameters),
      ),
  );
}

function isSameToken(a: Obo, b: Obo): boolean {
  return (
    scopeList(a.scopes).join(' ') === scopeList(b.scopes).join(' ') &&
    (['provider', 'grant', 'audience', 'resource'] as const).every((key) => a[key] === b[key])
  );
}

interface TargetRequest {
  readonly url: string;
  readonly request: OboRequest;
  readonly isOperatorServer: boolean;
}

function checkTargets(
  name: string,
  targets: readonly ExchangeTarget[],
  { url, request: { parameters, path }, isOperatorServer }: TargetRequest,
): OboProblem | null {
  if (!matchesTarget(targets, parameters.scopes, url)) {
    return createProblem(
      path,
      'obo_target',
      `these scopes and this address do not match identityProviders.${name}.targets`,
      'add the scopes and the origin there, or correct them here',
    );
  }
  // `targets` lists scopes. For another audience, the same scopes are a different token, which the list does not
  // cover.
  const field = (['audience', 'resource'] as const).find((key) => parameters[key] !== undefined);
  if (field === undefined || isOperatorServer) return null;
  return createProblem(
    ['obo', field],
    'obo_target',
    `differs from the configuration file for this address, and identityProviders.${name} has targets`,
    'remove it, or ask the operator to define the server in the file',
  );
}

function checkRestrictedResources(
  request: OboRequest,
  provider: ResolvedProvider | 'none',
  login: KnownLogin | null,
): OboProblem | null {
  const { parameters, scopesPath } = request;
  const resource = classifyScopes(scopeList(parameters.scopes), provider, login);
  if (resource) return createRestrictedProblem(scopesPath, resource, provider);
  for (const field of ['audience', 'resource'] as const) {
    const resourceName = classifyNames(
      parameters[field] === undefined ? [] : [parameters[field]],
      provider,
      login,
    );
    if (resourceName) return createRestrictedProblem(['obo', field], resourceName, provider);
  }
  return null;
}

const restrictedMessages: Readonly<Record<RestrictedResource, string>> = {
  graph: 'requests Microsoft Graph, or no resource, which Entra treats as Graph',
  arm: 'requests Azure Resource Manager',
  microsoft: 'requests a Microsoft service',
  bare: 'names no resource, and the default resource of this provider is not known',
  login: 'requests the login application itself',
  garbled: 'cannot be decoded',
};

function createRestrictedProblem(
  path: readonly string[],
  resource: RestrictedResource,
  provider: ResolvedProvider | 'none',
): OboProblem {
  const name = provider === 'none' ? '<provider>' : provider.name;
  return createProblem(
    path,
    'obo_scope',
    `${restrictedMessages[resource]}: only the operator may allow such a token`,
    resource === 'garbled'
      ? 'write it without encoding'
      : `request a scope of the server itself, or ask the operator to list it under identityProviders.${name}.targets`,
  );
}

function createProblem(
  path: readonly string[],
  code: string,
  message: string,
  suggestion: string,
): OboProblem {
  return { path, code, message, suggestion };
}

/** A token request of a server. */
interface OboRequest {
  readonly parameters: Obo;
  /** The path of the setting that requests the token. */
  readonly path: readonly string[];
  /** The path of the setting with the scopes. */
  readonly scopesPath: readonly string[];
  /** The name in messages. */
  readonly label: string;
}

type RemoteSettings = Exclude<ServerSettings, { type: 'stdio' }>;

/** The token requests of `obo` and of the Graph placeholder. Both are tokens of the user. */
function listOboRequests(server: RemoteSettings, graphScopes: string): OboRequest[] {
  const obo = 'obo' in server ? server.obo : undefined;
  const graphPath = findGraphPath(server);
  return [
    ...(obo ? [{ parameters: obo, path: ['obo'], scopesPath: ['obo', 'scopes'], label: 'obo' }] : []),
    ...(graphPath
      ? [
          {
            parameters: { scopes: graphScopes },
            path: graphPath,
            scopesPath: graphPath,
            label: GRAPH_PLACEHOLDER,
          },
        ]
      : []),
  ];
}

const GRAPH_PLACEHOLDER = '{{LIBRECHAT_GRAPH_ACCESS_TOKEN}}';

/** In other fields, the placeholder is an error when the definition is compiled. */
function findGraphPath({ headers, apiKey }: RemoteSettings): string[] | undefined {
  const header = Object.entries(headers).find(([, template]) => containsGraphToken(template));
  if (header) return ['headers', header[0]];
  return apiKey?.key && containsGraphToken(apiKey.key) ? ['apiKey', 'key'] : undefined;
}

function containsGraphToken(template: Template): boolean {
  return listPlaceholders(template).some(({ kind }) => kind === 'graph');
}
