import {
  oauthUrls,
  type ApiKey,
  type OAuth,
  type SseServer,
  type StdioServer,
  type StreamableHttpServer,
  type WebsocketServer,
} from '@behalf/contracts';
import type { Placeholder, Template } from '../template/template.ts';
import { listPlaceholders } from '../template/template.ts';

type Templates = Readonly<Record<string, Template>>;

/** The fields of `oauth` that may hold placeholders. */
export const oauthTexts = [
  ...oauthUrls,
  'client_id',
  'client_secret',
  'scope',
  'audience',
  'resource',
] as const;
export type OAuthText = (typeof oauthTexts)[number];

/** `oauth` with its texts as templates. `redirect_uri` is gone: the redirect is always our own. */
export type OAuthSettings = Readonly<
  Omit<OAuth, OAuthText | 'redirect_uri'> & { [K in OAuthText]?: Template }
>;

export type ApiKeySettings = Readonly<Omit<ApiKey, 'key'> & { key?: Template }>;

interface CompiledFields {
  readonly name: string;
  /** The form that appears in tool names; unique among the servers of the file. */
  readonly normalizedName: string;
  readonly oauth?: OAuthSettings;
  readonly oauth_headers?: Templates;
  readonly apiKey?: ApiKeySettings;
}

type WithCompiledFields<S> = Readonly<Omit<S, keyof CompiledFields | 'args' | 'env' | 'url' | 'headers'>> &
  CompiledFields;

export type StdioSettings = WithCompiledFields<StdioServer> & {
  readonly args: readonly Template[];
  readonly env: Templates;
};
export type WebsocketSettings = WithCompiledFields<WebsocketServer> & {
  readonly url: Template;
  readonly headers: Templates;
};
export type SseSettings = WithCompiledFields<SseServer> & {
  readonly url: Template;
  readonly headers: Templates;
};
export type StreamableHttpSettings = WithCompiledFields<StreamableHttpServer> & {
  readonly url: Template;
  readonly headers: Templates;
};

/** One server of the file, ready to use: variables filled in, what is left open held as templates. */
export type ServerSettings = StdioSettings | WebsocketSettings | SseSettings | StreamableHttpSettings;

/** Every placeholder of a server, `apiKey.key` included: what its scope is decided by. */
export function collectPlaceholders(server: ServerSettings): Placeholder[] {
  const templates: Template[] = [
    ...(server.type === 'stdio' ? server.args : [server.url]),
    ...Object.values(server.type === 'stdio' ? server.env : server.headers),
    ...Object.values(server.oauth_headers ?? {}),
    ...oauthTexts.flatMap((key) => (server.oauth?.[key] ? [server.oauth[key]] : [])),
    ...(server.apiKey?.key ? [server.apiKey.key] : []),
  ];
  return templates.flatMap((template) => listPlaceholders(template));
}
