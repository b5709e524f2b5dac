import { secretMask } from '@behalf/contracts';
import { maskAddress } from './maskAddress.ts';
import { maskArguments } from './maskArguments.ts';
import { markReferences, maskLiterals } from './references.ts';

/** What is shown in the place of a value. */
type Rule = (value: unknown) => unknown;

/** Only of values whose type the schema fixes, and that say what is done, where and for whom. */
const shown: Rule = (value) => value;
const masked: Rule = (value) => (value === null ? null : secretMask);
const text =
  (mask: (text: string) => string): Rule =>
  (value) =>
    typeof value === 'string' ? mask(value) : masked(value);

/** `${NAME}` and `{{NAME}}` stay as they are written; whatever stands beside them is a secret. */
const secret = text((value) => {
  const marked = markReferences(value);
  return marked ? marked.restore(maskLiterals(marked.text)) : secretMask;
});
const address = text((value) => maskAddress(value));
const issuer = text((value) => maskAddress(value, { keepsIds: true }));
/** A name, which may be the address of what it names. */
const identifier: Rule = (value) =>
  typeof value === 'string' && /[@?#\\]/.test(value) ? issuer(value) : value;
/** One that seems to hold a whole command line may hold the secrets of one. */
const program: Rule = (value) => (typeof value === 'string' && /[\s=]/.test(value) ? secret(value) : value);

const isMapping = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A key without a rule is masked: one that is added to the schema is no secret only when somebody says so here. */
const fields =
  (rules: Readonly<Record<string, Rule>>): Rule =>
  (value) =>
    isMapping(value)
      ? Object.fromEntries(
          Object.entries(value).map(([key, item]) => [
            key,
            (Object.hasOwn(rules, key) ? (rules[key] ?? masked) : masked)(item),
          ]),
        )
      : masked(value);
const each =
  (rule: Rule): Rule =>
  (value) =>
    isMapping(value)
      ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, rule(item)]))
      : masked(value);
const list =
  (rule: Rule): Rule =>
  (value) =>
    Array.isArray(value) ? value.map(rule) : masked(value);

/** The same rule for several keys. */
const all = <const K extends string>(rule: Rule, ...keys: K[]): Record<K, Rule> =>
  Object.fromEntries(keys.map((key) => [key, rule])) as Record<K, Rule>;

const oauth = fields({
  ...all(issuer, 'authorization_url', 'token_url', 'revocation_endpoint', 'redirect_uri', 'issuer'),
  ...all(shown, 'client_id', 'scope', 'token_exchange_method', 'grant_types_supported'),
  ...all(shown, 'token_endpoint_auth_methods_supported', 'response_types_supported'),
  ...all(shown, 'code_challenge_methods_supported', 'skip_code_challenge_check'),
  ...all(shown, 'forward_audience_on_refresh', 'revocation_endpoint_auth_methods_supported'),
  ...all(shown, 'legacyAuthDiscovery', 'grant', 'private_key_file', 'private_key_id', 'private_key_alg'),
  ...all(shown, 'dpop'),
  authorize_params: each(identifier),
  ...all(identifier, 'audience', 'resource'),
  client_secret: secret,
});

const server = fields({
  ...all(shown, 'type', 'title', 'description', 'startup', 'timeout', 'initTimeout', 'sseReadTimeout'),
  ...all(shown, 'chatMenu', 'serverInstructions', 'requiresOAuth', 'auth', 'exclusive', 'trustAnnotations'),
  ...all(shown, 'idempotentTools', 'era', 'relay', 'stderr', 'cwd', 'caFile'),
  ...all(address, 'url', 'proxy', 'iconPath'),
  ...all(each(secret), 'headers', 'oauth_headers', 'env'),
  command: program,
  args: maskArguments,
  apiKey: fields({ ...all(shown, 'source', 'authorization_type', 'custom_header'), key: secret }),
  oauth,
  obo: fields({ ...all(shown, 'scopes', 'provider', 'grant'), ...all(identifier, 'audience', 'resource') }),
  customUserVars: each(fields(all(shown, 'title', 'description', 'sensitive'))),
  access: fields(all(shown, 'users', 'groups', 'roles')),
  tools: fields(all(shown, 'include', 'exclude', 'readOnlyOnly')),
});

const permissions = all(shown, 'use', 'create', 'share', 'public', 'configureObo');

const endpoint = fields({
  ...all(shown, 'name', 'dropParams'),
  baseURL: address,
  apiKey: secret,
  headers: each(secret),
  addParams: each(masked),
  models: fields({
    default: list((model) => (typeof model === 'string' ? model : fields(all(shown, 'name'))(model))),
    fetch: shown,
  }),
});

const provider = fields({
  ...all(shown, 'type', 'clientId', 'clientAuth', 'subjectTokenType', 'requestedTokenType', 'dpop'),
  ...all(shown, 'certificateFile', 'privateKeyFile', 'assertionFile', 'actorTokenFile', 'caFile'),
  ...all(issuer, 'issuer', 'authority', 'tokenEndpoint'),
  clientSecret: secret,
  parameters: each(secret),
  targets: list(fields({ scopes: shown, origins: list(issuer) })),
  resourceServers: list(
    fields({
      ...all(shown, 'clientId', 'clientAuth', 'certificateFile', 'privateKeyFile', 'caFile'),
      ...all(issuer, 'issuer', 'tokenEndpoint'),
      clientSecret: secret,
    }),
  ),
});

const document = fields({
  ...all(shown, 'version', 'unknownKeys'),
  mcpServers: each(server),
  mcpSettings: fields({
    ...all(shown, 'allowedDomains', 'allowedAddresses', 'operatorAddresses'),
    endpoint: fields({
      ...all(shown, 'names', 'priority', 'allowedOrigins'),
      servers: each(fields({ key: shown, ...all(each(shown), 'tools', 'prompts') })),
    }),
    issuers: each(
      fields({
        ...all(shown, 'profile', 'pkce', 'resource', 'rotationGraceSeconds', 'revokeOnReplace'),
        ...all(list(issuer), 'origins', 'endpointOrigins'),
      }),
    ),
  }),
  interface: fields({
    mcpServers: fields({
      ...permissions,
      placeholder: shown,
      trustCheckbox: fields(all(shown, 'label', 'subLabel')),
      admin: fields(permissions),
    }),
  }),
  endpoints: fields({
    custom: list(endpoint),
    agents: fields({
      toolApproval: fields({
        ...all(shown, 'enabled', 'mode', 'allow', 'deny', 'ask'),
        roles: each(fields(all(shown, 'allow', 'deny', 'ask', 'readOnlyOnly'))),
      }),
    }),
  }),
  identityProviders: each(provider),
  authorizationServer: fields({
    ...all(shown, 'enabled', 'replayWindowSeconds', 'caFile'),
    clients: each(fields({ name: shown, redirectUris: list(issuer), clientSecret: secret })),
    registration: fields(all(shown, 'enabled', 'perMinute', 'most')),
    idJagIssuers: list(issuer),
    idJagTenants: each(shown),
  }),
});

/** The file as it was written, for people to look at: with a mask for every secret, and for what may be one. */
export function redactConfig(value: unknown): Readonly<Record<string, unknown>> {
  return document(value) as Record<string, unknown>;
}
