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
import { canonicalUrl } from './canonicalUrl.ts';

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
  readonly plain: Partial<OAuthSettings>;
}

/** A server as sign-ins see it, with the values of one holder filled in. */
export interface SignInTarget {
  readonly server: ServerSnapshot;
  /** Where calls go. */
  readonly url: string;
  /** What tokens are bound to. */
  readonly canonicalUrl: string;
  /** The operator wrote it, and nobody else changed what decides about tokens. */
  readonly isOperators: boolean;
  readonly oauth: SignInSettings;
  /** `oauth_headers`. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Undefined where something cannot be filled in, or nobody can sign in at all. */
export function signInTargetOf(server: ServerSnapshot, values: TemplateValues): SignInTarget | undefined {
  const filled = new Filling(values);
  const target = fill(server, filled);
  return filled.isIncomplete ? undefined : target;
}

/** As far as it is the same for everybody: what depends on a user's value is left out. Undefined where its address does. */
export function commonTarget(server: ServerSnapshot): SignInTarget | undefined {
  return fill(server, new Filling({}));
}

function fill(server: ServerSnapshot, filled: Filling): SignInTarget | undefined {
  const { settings } = server;
  if (settings.type === 'stdio') return undefined;
  const url = filled.url(settings.url) ?? '';
  const { oauth: given = {} as Partial<OAuthSettings> } = settings;
  const secret = filled.text(given.client_secret);
  const oauth: SignInSettings = {
    authorizationUrl: filled.url(given.authorization_url),
    tokenUrl: filled.url(given.token_url),
    revocationUrl: filled.url(given.revocation_endpoint),
    clientId: filled.text(given.client_id),
    clientSecret: secret === undefined ? undefined : new HiddenText(secret),
    scope: filled.text(given.scope),
    audience: filled.text(given.audience),
    resource: filled.text(given.resource),
    issuer: given.issuer,
    plain: given,
  };
  const headers = Object.fromEntries(
    Object.entries(settings.oauth_headers ?? {}).map(([name, value]) => [
      name.toLowerCase(),
      filled.header(value) ?? '',
    ]),
  );
  const canonical = canonicalUrl(url);
  if (canonical === undefined) return undefined;
  return { server, url, canonicalUrl: canonical, isOperators: isOperators(server), oauth, headers };
}

/** A definition of the file, or one that an administrator changed nothing of but texts and the picture. */
export function isOperators({ source, audience, secured }: ServerSnapshot): boolean {
  if (source === 'yaml') return true;
  return source === 'config' && audience === 'yaml-server' && secured?.by === null;
}

/** Remembers whether anything was missing. */
class Filling {
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
