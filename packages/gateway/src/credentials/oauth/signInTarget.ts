import { HiddenText } from '@behalf/kernel';
import {
  renderHeader,
  renderTemplate,
  renderUrl,
  type OAuthSettings,
  type Template,
  type TemplateValues,
} from '@behalf/settings';
import type { ServerSnapshot } from '../../registry/server.ts';
import { canonicalizeUrl } from './canonicalUrl.ts';

/** What the definition says of the sign-in, filled in. What is absent is discovered. */
export interface SignInSettings {
  readonly authorizationUrl?: string | undefined;
  readonly tokenUrl?: string | undefined;
  readonly revocationUrl?: string | undefined;
  readonly clientId?: string | undefined;
  readonly clientSecret?: HiddenText | undefined;
  readonly scope?: string | undefined;
  readonly audience?: string | undefined;
  readonly resource?: string | undefined;
  readonly issuer?: string | undefined;
  /** Everything of it that is no text. */
  readonly raw: Partial<OAuthSettings>;
}

/** A server as sign-ins see it, with the values of one holder filled in. */
export interface SignInTarget {
  readonly server: ServerSnapshot;
  /** Where calls go. */
  readonly url: string;
  /** What tokens are bound to. */
  readonly canonicalUrl: string;
  /** The operator wrote it, and nobody else changed what decides about tokens. */
  readonly isOperatorDefined: boolean;
  readonly oauth: SignInSettings;
  /** `oauth_headers`. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Undefined where something cannot be filled in, or nobody can sign in at all. */
export function toSignInTarget(server: ServerSnapshot, values: TemplateValues): SignInTarget | undefined {
  const renderer = new TemplateRenderer(values);
  const target = renderSignInTarget(server, renderer);
  return renderer.isIncomplete ? undefined : target;
}

/** As far as it is the same for everybody: what depends on a user's value is left out. Undefined where its address does. */
export function targetWithoutUserValues(server: ServerSnapshot): SignInTarget | undefined {
  return renderSignInTarget(server, new TemplateRenderer({}));
}

function renderSignInTarget(server: ServerSnapshot, renderer: TemplateRenderer): SignInTarget | undefined {
  const { settings } = server;
  if (settings.type === 'stdio') return undefined;
  const url = renderer.url(settings.url) ?? '';
  const { oauth: oauthSettings = {} as Partial<OAuthSettings> } = settings;
  const secret = renderer.text(oauthSettings.client_secret);
  const oauth: SignInSettings = {
    authorizationUrl: renderer.url(oauthSettings.authorization_url),
    tokenUrl: renderer.url(oauthSettings.token_url),
    revocationUrl: renderer.url(oauthSettings.revocation_endpoint),
    clientId: renderer.text(oauthSettings.client_id),
    clientSecret: secret === undefined ? undefined : new HiddenText(secret),
    scope: renderer.text(oauthSettings.scope),
    audience: renderer.text(oauthSettings.audience),
    resource: renderer.text(oauthSettings.resource),
    issuer: oauthSettings.issuer,
    raw: oauthSettings,
  };
  const headers = Object.fromEntries(
    Object.entries(settings.oauth_headers ?? {}).map(([name, value]) => [
      name.toLowerCase(),
      renderer.header(value) ?? '',
    ]),
  );
  const canonicalAddress = canonicalizeUrl(url);
  if (canonicalAddress === undefined) return undefined;
  return {
    server,
    url,
    canonicalUrl: canonicalAddress,
    isOperatorDefined: isOperatorDefined(server),
    oauth,
    headers,
  };
}

/** A definition of the file, or one that an administrator changed nothing of but texts and the picture. */
export function isOperatorDefined({ source, audience, securityDecision: secured }: ServerSnapshot): boolean {
  if (source === 'yaml') return true;
  return source === 'config' && audience === 'yaml-server' && secured?.decidedBy === null;
}

/** Remembers whether anything was missing. */
class TemplateRenderer {
  isIncomplete = false;
  readonly #values: TemplateValues;
  constructor(values: TemplateValues) {
    this.#values = values;
  }

  text(template: Template | undefined): string | undefined {
    return this.#take(template, renderTemplate);
  }

  url(template: Template | undefined): string | undefined {
    return this.#take(template, renderUrl);
  }

  header(template: Template | undefined): string | undefined {
    return this.#take(template, renderHeader);
  }

  #take(template: Template | undefined, render: typeof renderUrl): string | undefined {
    if (template === undefined) return undefined;
    const rendered = render(template, this.#values);
    if (rendered.ok) return rendered.text;
    this.isIncomplete = true;
    return undefined;
  }
}
