import { createHash } from 'node:crypto';
import { parseUrl } from '@behalf/contracts';
import type { Client } from 'oidc-provider';
import type Provider from 'oidc-provider';
import { isLocalRedirect } from './localRedirect.ts';
import type { ConsentPageData } from './consentPage.ts';

/** A client's request, as people are asked about it. */
export interface Interaction extends Omit<ConsentPageData, 'token' | 'userName'> {
  readonly provider: Provider;
  readonly client: Client;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly resources: readonly string[];
  /** Those of the library's own that were asked for. */
  readonly scopes: readonly string[];
}

const MAX_NAME_LENGTH = 80;

type InteractionDetails = Awaited<ReturnType<Provider['interactionDetails']>>;

export function toInteraction(
  { uid, params }: InteractionDetails,
  client: Client,
  isOperatorClient: boolean,
): Omit<Interaction, 'provider' | 'client'> {
  const { clientId } = client;
  const redirectUri = toText(params['redirect_uri']);
  const resources = [params['resource'] ?? []].flat().map(String);
  const document = parseUrl(clientId);
  return {
    uid,
    clientId,
    redirectUri,
    resources,
    scopes: toText(params['scope'])
      .split(' ')
      .filter((word) => word !== ''),
    clientName: toDisplayName(client),
    source: isOperatorClient
      ? { kind: 'operator' }
      : document?.protocol === 'https:'
        ? { kind: 'document', host: document.host }
        : { kind: 'registered' },
    redirectHost: toDisplayHost(redirectUri),
    isLocalRedirect: isLocalRedirect(redirectUri),
    resource: resources.join(', '),
  };
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Signs of writing direction and the like could make one name look like another. */
function toDisplayName({ clientName = '' }: Client): string {
  const name = clientName.replace(/\p{C}/gu, '').trim().slice(0, MAX_NAME_LENGTH);
  return name === '' ? 'An unnamed application' : name;
}

/** An address of its own scheme has no host that anybody vouches for: the scheme is what it is known by. */
function toDisplayHost(redirectUri: string): string {
  const { protocol, host, hostname } = new URL(redirectUri);
  // A program on this machine takes whatever port is free.
  if (protocol === 'http:') return hostname;
  return protocol === 'https:' ? host : protocol;
}

/** What our own page holds and no other can know: it takes the cookie's secret to make it. */
export function createConsentToken(uid: string, sessionSecret: string): string {
  return createHash('sha256').update(`consent:${uid}:${sessionSecret}`).digest('base64url');
}
