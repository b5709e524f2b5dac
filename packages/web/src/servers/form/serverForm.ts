import type { ServerView } from '@behalf/contracts';
import { secretMask } from '@behalf/contracts/plain';
import type { ServerConfig } from '../../api/servers.ts';

/** The transports of user-defined servers. Only the operator can define processes. */
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

/** The state of the dialog. A secret is empty until the user enters one: stored secrets never reach the browser. */
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
    /** Removes the stored secret. */
    readonly removesSecret: boolean;
    readonly authorizationUrl: string;
    readonly tokenUrl: string;
    readonly revocationUrl: string;
    readonly scope: string;
    readonly exchangeMethod: (typeof exchangeMethods)[number];
  };
  readonly oboScopes: string;
  /** Whether these headers replace the stored ones, which are not shown. */
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

/** The form of an existing server. */
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

/** Whether the stored key remains in use. */
export function keepsStoredKey({ auth, apiKey }: ServerForm, before: ServerView | undefined): boolean {
  const isStored = before?.apiKey?.source === 'admin';
  return isStored && auth === 'apiKey' && apiKey.source === 'admin' && apiKey.key === '';
}

/** The `oauth` settings that have a field. */
const oauthFields = {
  client_id: 'clientId',
  authorization_url: 'authorizationUrl',
  token_url: 'tokenUrl',
  revocation_endpoint: 'revocationUrl',
  scope: 'scope',
  token_exchange_method: 'exchangeMethod',
} as const;

/**
 * The complete definition for a change. Settings without a field are copied from the view. Values that are not
 * shown, such as headers and secrets, are kept because they are omitted.
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
  // An empty object removes the stored headers.
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
    // Omitting the secret keeps the stored one; `null` removes it.
    ...(oauth.clientSecret !== '' && { client_secret: oauth.clientSecret }),
    ...(oauth.clientSecret === '' && oauth.removesSecret && { client_secret: null }),
  };
}

/** Whether the form has unsaved changes. */
export function isChanged(form: ServerForm, initial: ServerForm): boolean {
  return JSON.stringify(form) !== JSON.stringify(initial);
}

/** Without the permission for On-Behalf-Of, a user can only change the texts of a server that uses it. */
export function isLocked(before: ServerView | undefined, canConfigureObo: boolean): boolean {
  return before?.obo !== undefined && !canConfigureObo;
}

/** A WebSocket message cannot carry a token. */
export function isCompatible(type: ServerTransport, auth: AuthKind): boolean {
  return auth !== 'obo' || type !== 'websocket';
}
