import type { ServerView } from '@behalf/contracts';
import { secretMask } from '@behalf/contracts/plain';
import type { ServerConfig } from '../../api/servers.ts';

/** What users may define; processes are the operator's. */
export const transports = ['streamable-http', 'sse', 'websocket'] as const;
export type ServerTransport = (typeof transports)[number];

export const authKinds = ['none', 'apiKey', 'oauth', 'obo'] as const;
export type AuthKind = (typeof authKinds)[number];

export const keySources = ['admin', 'user'] as const;
export const keyForms = ['bearer', 'basic', 'custom'] as const;
export const exchangeMethods = ['', 'default_post', 'basic_auth_header'] as const;

export interface HeaderRow {
  readonly id: number;
  readonly name: string;
  readonly value: string;
}

/** What the dialog holds while somebody types. A secret is empty until it is typed anew: a stored one is never here. */
export interface ServerForm {
  readonly title: string;
  readonly description: string;
  readonly type: ServerTransport;
  readonly url: string;
  readonly auth: AuthKind;
  readonly apiKey: {
    readonly source: (typeof keySources)[number];
    readonly form: (typeof keyForms)[number];
    readonly customHeader: string;
    readonly key: string;
  };
  readonly oauth: {
    readonly clientId: string;
    readonly clientSecret: string;
    /** The stored secret is to go. */
    readonly removesSecret: boolean;
    readonly authorizationUrl: string;
    readonly tokenUrl: string;
    readonly revocationUrl: string;
    readonly scope: string;
    readonly exchangeMethod: (typeof exchangeMethods)[number];
  };
  readonly oboScopes: string;
  /** Of a server that is edited: whether these take the place of the stored ones, which nobody is shown. */
  readonly replacesHeaders: boolean;
  readonly headers: readonly HeaderRow[];
}

const DEFAULT_HEADER = 'X-Api-Key';

export const emptyForm: ServerForm = {
  title: '',
  description: '',
  type: 'streamable-http',
  url: '',
  auth: 'none',
  apiKey: { source: 'admin', form: 'bearer', customHeader: DEFAULT_HEADER, key: '' },
  oauth: {
    clientId: '',
    clientSecret: '',
    removesSecret: false,
    authorizationUrl: '',
    tokenUrl: '',
    revocationUrl: '',
    scope: '',
    exchangeMethod: '',
  },
  oboScopes: '',
  replacesHeaders: true,
  headers: [],
};

/** The form of a server that is there. */
export function toServerForm(view: ServerView): ServerForm {
  const { apiKey, oauth, obo } = view;
  const text = (key: string) => (typeof oauth?.[key] === 'string' ? oauth[key] : '');
  return {
    ...emptyForm,
    title: view.title ?? '',
    description: view.description ?? '',
    type: transports.find((type) => type === view.type) ?? emptyForm.type,
    url: view.url ?? '',
    auth: obo ? 'obo' : oauth ? 'oauth' : apiKey ? 'apiKey' : 'none',
    apiKey: apiKey
      ? {
          source: apiKey.source,
          form: apiKey.authorization_type,
          customHeader: apiKey.custom_header ?? DEFAULT_HEADER,
          key: '',
        }
      : emptyForm.apiKey,
    oauth: {
      clientId: text('client_id'),
      clientSecret: '',
      removesSecret: false,
      authorizationUrl: text('authorization_url'),
      tokenUrl: text('token_url'),
      revocationUrl: text('revocation_endpoint'),
      scope: text('scope'),
      exchangeMethod: exchangeMethods.find((method) => method === text('token_exchange_method')) ?? '',
    },
    oboScopes: obo?.scopes ?? '',
    replacesHeaders: false,
  };
}

/** Whether the key that is stored is the one that goes on being used. */
export function keepsStoredKey({ auth, apiKey }: ServerForm, before: ServerView | undefined): boolean {
  const isStored = before?.apiKey?.source === 'admin';
  return isStored && auth === 'apiKey' && apiKey.source === 'admin' && apiKey.key === '';
}

/** Members of `oauth` that the form has a field for. */
const oauthFields = {
  client_id: 'clientId',
  authorization_url: 'authorizationUrl',
  token_url: 'tokenUrl',
  revocation_endpoint: 'revocationUrl',
  scope: 'scope',
  token_exchange_method: 'exchangeMethod',
} as const;

/**
 * The whole definition, as a change is sent. What the form has no field for is carried over from what was shown, and
 * what was not shown stays because it is not named: headers, and the secret of a section.
 */
export function toServerConfig(form: ServerForm, before: ServerView | undefined): ServerConfig {
  const { title, description, type, url, auth } = form;
  return {
    type,
    url: url.trim(),
    ...(title.trim() !== '' && { title }),
    ...(description.trim() !== '' && { description }),
    ...(before?.iconPath !== undefined && { iconPath: before.iconPath }),
    ...(form.replacesHeaders && toHeaders(form, before)),
    ...(auth === 'apiKey' && { apiKey: toApiKey(form, before) }),
    ...(auth === 'oauth' && { oauth: toOAuth(form, before) }),
    ...(auth === 'obo' && { obo: { ...before?.obo, scopes: form.oboScopes } }),
  };
}

function toHeaders({ headers }: ServerForm, before: ServerView | undefined): ServerConfig {
  const namedHeaders = headers.filter(({ name }) => name.trim() !== '');
  // None at all: of a server that is there, the stored ones are to go.
  if (namedHeaders.length === 0 && !before) return {};
  return { headers: Object.fromEntries(namedHeaders.map(({ name, value }) => [name.trim(), value])) };
}

function toApiKey(form: ServerForm, before: ServerView | undefined): ServerConfig {
  const { source, form: authorization_type, customHeader, key } = form.apiKey;
  return {
    source,
    authorization_type,
    ...(authorization_type === 'custom' && { custom_header: customHeader.trim() }),
    ...(source === 'admin' && { key: keepsStoredKey(form, before) ? secretMask : key }),
  };
}

function toOAuth({ oauth }: ServerForm, before: ServerView | undefined): ServerConfig {
  const preserved = Object.entries(before?.oauth ?? {}).filter(([key]) => !Object.hasOwn(oauthFields, key));
  const entered = Object.entries(oauthFields).map(([key, field]) => [key, oauth[field].trim()] as const);
  return {
    ...Object.fromEntries(preserved),
    ...Object.fromEntries(entered.filter(([, value]) => value !== '')),
    // Left out, a stored secret stays; only `null` takes it away.
    ...(oauth.clientSecret !== '' && { client_secret: oauth.clientSecret }),
    ...(oauth.clientSecret === '' && oauth.removesSecret && { client_secret: null }),
  };
}

/** Whether there is something to lose. */
export function isChanged(form: ServerForm, initial: ServerForm): boolean {
  return JSON.stringify(form) !== JSON.stringify(initial);
}

/** Who may not configure On-Behalf-Of changes no more than the texts of a server that has it. */
export function isLocked(before: ServerView | undefined, canConfigureObo: boolean): boolean {
  return before?.obo !== undefined && !canConfigureObo;
}

/** No message of a websocket can carry a token of its own. */
export function isCompatible(type: ServerTransport, auth: AuthKind): boolean {
  return auth !== 'obo' || type !== 'websocket';
}
