import {
  apiKeyVariable,
  finding,
  normalizeServerName,
  oauthUrls,
  type McpServer,
  type OAuth,
  type Path,
} from '@behalf/contracts';
import { isToken, placeholdersIn, type Template } from '../template/template.ts';
import {
  oauthTexts,
  type ApiKeySettings,
  type OAuthSettings,
  type OAuthText,
  type ServerSettings,
} from './serverSettings.ts';
import type { Texts } from './texts.ts';
import { urlPlaceProblem } from './urlPlace.ts';

/** From a checked definition to templates. What is wrong with its texts is added to `texts.findings`. */
export function compileServer(name: string, server: McpServer, texts: Texts): ServerSettings {
  const path = ['mcpServers', name];
  const declared = [
    ...Object.keys(server.customUserVars ?? {}),
    ...(server.apiKey?.source === 'user' ? [apiKeyVariable] : []),
  ];
  const template = (text: string, at: Path): Template => texts.template(text, at, declared);
  // A token belongs where headers go: addresses and command lines stand in logs and process lists.
  const tokenFree = (text: string, at: Path): Template => {
    const compiledText = template(text, at);
    if (placeholdersIn(compiledText).some(isToken)) {
      const message = 'may not hold a token of the user';
      texts.findings.push(finding(at, 'placeholder_token', message, 'put it into headers'));
    }
    return compiledText;
  };
  // The place of a placeholder is checked in every URL: credentials go to each of them.
  const urlTemplate = (text: string, at: Path): Template => {
    const compiledUrl = tokenFree(text, at);
    const misplaced = urlPlaceProblem(compiledUrl, at);
    if (misplaced) texts.findings.push(misplaced);
    return compiledUrl;
  };
  const map = (
    source: Record<string, string> | undefined,
    at: Path,
    compile: Compile = template,
  ): Record<string, Template> =>
    Object.fromEntries(Object.entries(source ?? {}).map(([key, text]) => [key, compile(text, [...at, key])]));

  const { oauth, oauth_headers: oauthHeaders, apiKey, ...plain } = server;
  const compiled = {
    name,
    normalizedName: normalizeServerName(name),
    ...(oauth
      ? { oauth: compileOAuth(oauth, [...path, 'oauth'], texts, { template: tokenFree, url: urlTemplate }) }
      : {}),
    ...(oauthHeaders ? { oauth_headers: map(oauthHeaders, [...path, 'oauth_headers'], tokenFree) } : {}),
    ...(apiKey ? { apiKey: compileApiKey(apiKey, [...path, 'apiKey'], template) } : {}),
  };
  if (plain.type === 'stdio') {
    return {
      ...plain,
      ...compiled,
      command: texts.plain(plain.command, [...path, 'command']),
      ...(plain.cwd === undefined ? {} : { cwd: texts.plain(plain.cwd, [...path, 'cwd']) }),
      args: plain.args.map((arg, index) => tokenFree(arg, [...path, 'args', index])),
      env: map(plain.env, [...path, 'env']),
    };
  }
  const url = urlTemplate(plain.url, [...path, 'url']);
  const remote = {
    ...compiled,
    url,
    headers: map(plain.headers, [...path, 'headers']),
    ...(plain.caFile === undefined ? {} : { caFile: texts.plain(plain.caFile, [...path, 'caFile']) }),
  };
  if (plain.type === 'websocket') return { ...plain, ...remote };

  const { obo, proxy } = plain;
  if (obo && placeholdersIn(url).length > 0) {
    // The exchanged token goes where the URL says; a value of a user or a request must have no say in that.
    texts.findings.push(
      finding(
        [...path, 'url'],
        'obo_url',
        'may not hold a placeholder next to obo',
        'write the address out, or remove obo',
      ),
    );
  }
  const http = {
    ...remote,
    ...(proxy === undefined ? {} : { proxy: texts.plain(proxy, [...path, 'proxy']) }),
    ...(obo ? { obo: { ...obo, ...compileObo(obo, [...path, 'obo'], texts) } } : {}),
  };
  // Written twice because a union of spreads does not narrow by itself.
  return plain.type === 'sse' ? { ...plain, ...http } : { ...plain, ...http };
}

function compileObo(
  obo: { scopes: string; audience?: string | undefined; resource?: string | undefined },
  path: Path,
  texts: Texts,
): { scopes: string; audience?: string; resource?: string } {
  return {
    scopes: texts.plain(obo.scopes, [...path, 'scopes']),
    ...(obo.audience === undefined ? {} : { audience: texts.plain(obo.audience, [...path, 'audience']) }),
    ...(obo.resource === undefined ? {} : { resource: texts.plain(obo.resource, [...path, 'resource']) }),
  };
}

type Compile = (text: string, path: Path) => Template;

function compileOAuth(
  oauth: OAuth,
  path: Path,
  texts: Texts,
  { template, url }: { readonly template: Compile; readonly url: Compile },
): OAuthSettings {
  const { redirect_uri: _ignored, ...others } = oauth;
  const rest: Omit<OAuth, OAuthText | 'redirect_uri'> = { ...others, ...plainOAuth(oauth, path, texts) };
  const templates: { [K in OAuthText]?: Template } = {};
  for (const key of oauthTexts) {
    const text = oauth[key];
    const compile = isUrl(key) ? url : template;
    if (text !== undefined) templates[key] = compile(text, [...path, key]);
  }
  return { ...rest, ...templates };
}

/** Which authorization server, and which file of this machine: no user and no request has a say in either. */
function plainOAuth(
  oauth: OAuth,
  path: Path,
  texts: Texts,
): Partial<Pick<OAuth, 'issuer' | 'private_key_file' | 'private_key_id'>> {
  return Object.fromEntries(
    (['issuer', 'private_key_file', 'private_key_id'] as const).flatMap((key) => {
      const text = oauth[key];
      return text === undefined ? [] : [[key, texts.plain(text, [...path, key])]];
    }),
  );
}

function isUrl(key: string): boolean {
  return (oauthUrls as readonly string[]).includes(key);
}

function compileApiKey(
  apiKey: NonNullable<McpServer['apiKey']>,
  path: Path,
  template: Compile,
): ApiKeySettings {
  const { key, ...rest } = apiKey;
  return key === undefined ? rest : { ...rest, key: template(key, [...path, 'key']) };
}
