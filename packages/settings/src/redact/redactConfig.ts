import { secretMask } from '@behalf/contracts';
import { markReferences, maskAddress, maskArguments, maskLiterals } from './maskText.ts';

/** Returns what is displayed instead of a value. */
type RedactRule = (value: unknown) => unknown;

/** Only for values whose type the schema restricts, and that contain no secret. */
const keepValue: RedactRule = (value) => value;
const maskValue: RedactRule = (value) => (value === null ? null : secretMask);
const textRule =
  (mask: (textRule: string) => string): RedactRule =>
  (value) =>
    typeof value === 'string' ? mask(value) : maskValue(value);

/** Keeps `${NAME}` and `{{NAME}}`. Masks all other text. */
const maskSecret = textRule((value) => {
  const marked = markReferences(value);
  return marked ? marked.restore(maskLiterals(marked.text)) : secretMask;
});
const maskAddressText = textRule((value) => maskAddress(value));
const maskIssuer = textRule((value) => maskAddress(value, { shouldKeepIds: true }));
/** For a name, which may be a URL. */
const maskIdentifier: RedactRule = (value) =>
  typeof value === 'string' && /[@?#\\]/.test(value) ? maskIssuer(value) : value;
/** A program with spaces may be a command line with secrets. */
const maskProgram: RedactRule = (value) =>
  typeof value === 'string' && /[\s=]/.test(value) ? maskSecret(value) : value;

const isMapping = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A key without a rule is masked. A new schema key is shown only after a rule is added here. */
const redactFields =
  (rules: Readonly<Record<string, RedactRule>>): RedactRule =>
  (value) =>
    isMapping(value)
      ? Object.fromEntries(
          Object.entries(value).map(([key, item]) => [
            key,
            (Object.hasOwn(rules, key) ? (rules[key] ?? maskValue) : maskValue)(item),
          ]),
        )
      : maskValue(value);
const redactValues =
  (rule: RedactRule): RedactRule =>
  (value) =>
    isMapping(value)
      ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, rule(item)]))
      : maskValue(value);
const redactItems =
  (rule: RedactRule): RedactRule =>
  (value) =>
    Array.isArray(value) ? value.map(rule) : maskValue(value);

/** Applies one rule to several keys. */
const sameRule = <const K extends string>(rule: RedactRule, ...keys: K[]): Record<K, RedactRule> =>
  Object.fromEntries(keys.map((key) => [key, rule])) as Record<K, RedactRule>;

const oauth = redactFields({
  ...sameRule(maskIssuer, 'authorization_url', 'token_url', 'revocation_endpoint', 'redirect_uri', 'issuer'),
  ...sameRule(keepValue, 'client_id', 'scope', 'token_exchange_method', 'grant_types_supported'),
  ...sameRule(keepValue, 'token_endpoint_auth_methods_supported', 'response_types_supported'),
  ...sameRule(keepValue, 'code_challenge_methods_supported', 'skip_code_challenge_check'),
  ...sameRule(keepValue, 'forward_audience_on_refresh', 'revocation_endpoint_auth_methods_supported'),
  ...sameRule(
    keepValue,
    'legacyAuthDiscovery',
    'grant',
    'private_key_file',
    'private_key_id',
    'private_key_alg',
  ),
  ...sameRule(keepValue, 'dpop'),
  authorize_params: redactValues(maskIdentifier),
  ...sameRule(maskIdentifier, 'audience', 'resource'),
  client_secret: maskSecret,
});

const server = redactFields({
  ...sameRule(
    keepValue,
    'type',
    'title',
    'description',
    'startup',
    'timeout',
    'initTimeout',
    'sseReadTimeout',
  ),
  ...sameRule(
    keepValue,
    'chatMenu',
    'serverInstructions',
    'requiresOAuth',
    'auth',
    'exclusive',
    'trustAnnotations',
  ),
  ...sameRule(keepValue, 'idempotentTools', 'era', 'relay', 'stderr', 'cwd', 'caFile'),
  ...sameRule(maskAddressText, 'url', 'proxy', 'iconPath'),
  ...sameRule(redactValues(maskSecret), 'headers', 'oauth_headers', 'env'),
  command: maskProgram,
  args: maskArguments,
  apiKey: redactFields({
    ...sameRule(keepValue, 'source', 'authorization_type', 'custom_header'),
    key: maskSecret,
  }),
  oauth,
  obo: redactFields({
    ...sameRule(keepValue, 'scopes', 'provider', 'grant'),
    ...sameRule(maskIdentifier, 'audience', 'resource'),
  }),
  customUserVars: redactValues(redactFields(sameRule(keepValue, 'title', 'description', 'sensitive'))),
  access: redactFields(sameRule(keepValue, 'users', 'groups', 'roles')),
  tools: redactFields(sameRule(keepValue, 'include', 'exclude', 'readOnlyOnly')),
});

const permissions = sameRule(keepValue, 'use', 'create', 'share', 'public', 'configureObo');

const endpoint = redactFields({
  ...sameRule(keepValue, 'name', 'dropParams'),
  baseURL: maskAddressText,
  apiKey: maskSecret,
  headers: redactValues(maskSecret),
  addParams: redactValues(maskValue),
  models: redactFields({
    default: redactItems((model) =>
      typeof model === 'string' ? model : redactFields(sameRule(keepValue, 'name'))(model),
    ),
    fetch: keepValue,
  }),
});

const provider = redactFields({
  ...sameRule(keepValue, 'type', 'clientId', 'clientAuth', 'clientAssertionAudience', 'dpop'),
  ...sameRule(keepValue, 'subjectTokenType', 'requestedTokenType'),
  ...sameRule(keepValue, 'certificateFile', 'privateKeyFile', 'assertionFile', 'actorTokenFile', 'caFile'),
  ...sameRule(maskIssuer, 'issuer', 'authority', 'tokenEndpoint'),
  clientSecret: maskSecret,
  parameters: redactValues(maskSecret),
  targets: redactItems(redactFields({ scopes: keepValue, origins: redactItems(maskIssuer) })),
  resourceServers: redactItems(
    redactFields({
      ...sameRule(keepValue, 'clientId', 'clientAuth', 'clientAssertionAudience'),
      ...sameRule(keepValue, 'certificateFile', 'privateKeyFile', 'caFile'),
      ...sameRule(maskIssuer, 'issuer', 'tokenEndpoint'),
      clientSecret: maskSecret,
    }),
  ),
});

const document = redactFields({
  ...sameRule(keepValue, 'version', 'unknownKeys'),
  mcpServers: redactValues(server),
  mcpSettings: redactFields({
    ...sameRule(keepValue, 'allowedDomains', 'allowedAddresses', 'operatorAddresses'),
    endpoint: redactFields({
      ...sameRule(keepValue, 'names', 'priority', 'allowedOrigins'),
      servers: redactValues(
        redactFields({ key: keepValue, ...sameRule(redactValues(keepValue), 'tools', 'prompts') }),
      ),
    }),
    issuers: redactValues(
      redactFields({
        ...sameRule(keepValue, 'profile', 'pkce', 'resource', 'rotationGraceSeconds', 'revokeOnReplace'),
        clientAssertionAudience: keepValue,
        ...sameRule(redactItems(maskIssuer), 'origins', 'endpointOrigins'),
      }),
    ),
  }),
  interface: redactFields({
    mcpServers: redactFields({
      ...permissions,
      placeholder: keepValue,
      trustCheckbox: redactFields(sameRule(keepValue, 'label', 'subLabel')),
      admin: redactFields(permissions),
    }),
  }),
  endpoints: redactFields({
    custom: redactItems(endpoint),
    agents: redactFields({
      toolApproval: redactFields({
        ...sameRule(keepValue, 'enabled', 'mode', 'allow', 'deny', 'ask'),
        roles: redactValues(redactFields(sameRule(keepValue, 'allow', 'deny', 'ask', 'readOnlyOnly'))),
      }),
    }),
  }),
  identityProviders: redactValues(provider),
  authorizationServer: redactFields({
    ...sameRule(keepValue, 'enabled', 'replayWindowSeconds', 'caFile'),
    clients: redactValues(
      redactFields({ name: keepValue, redirectUris: redactItems(maskIssuer), clientSecret: maskSecret }),
    ),
    registration: redactFields(sameRule(keepValue, 'enabled', 'perMinute', 'most')),
    idJagIssuers: redactItems(maskIssuer),
    idJagTenants: redactValues(keepValue),
  }),
});

/** The configuration file as written, for display, with secrets and possible secrets masked. */
export function redactConfig(value: unknown): Readonly<Record<string, unknown>> {
  return document(value) as Record<string, unknown>;
}
