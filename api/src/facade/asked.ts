import { createHash } from 'node:crypto';
import { parseUrl } from '@behalf/contracts';
import type { Client } from 'oidc-provider';
import type Provider from 'oidc-provider';
import { isLocal } from './localRedirect.ts';
import type { Asked } from './consentPage.ts';

/** A client's request, as people are asked about it. */
export interface Interaction extends Omit<Asked, 'token' | 'userName'> {
  readonly provider: Provider;
  readonly client: Client;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly resources: readonly string[];
  /** Those of the library's own that were asked for. */
  readonly scopes: readonly string[];
}

const LONGEST_NAME = 80;

type Details = Awaited<ReturnType<Provider['interactionDetails']>>;

export function askedOf(
  { uid, params }: Details,
  client: Client,
  isOperators: boolean,
): Omit<Interaction, 'provider' | 'client'> {
  const { clientId } = client;
  const redirectUri = textOf(params['redirect_uri']);
  const resources = [params['resource'] ?? []].flat().map(String);
  const document = parseUrl(clientId);
  return {
    uid,
    clientId,
    redirectUri,
    resources,
    scopes: textOf(params['scope'])
      .split(' ')
      .filter((word) => word !== ''),
    clientName: nameOf(client),
    from: isOperators
      ? { kind: 'operator' }
      : document?.protocol === 'https:'
        ? { kind: 'document', host: document.host }
        : { kind: 'registered' },
    redirectHost: hostOf(redirectUri),
    isLocal: isLocal(redirectUri),
    resource: resources.join(', '),
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Signs of writing direction and the like could make one name look like another. */
function nameOf({ clientName = '' }: Client): string {
  const name = clientName.replace(/\p{C}/gu, '').trim().slice(0, LONGEST_NAME);
  return name === '' ? 'An application without a name' : name;
}

/** An address of its own scheme has no host that anybody vouches for: the scheme is what it is known by. */
function hostOf(redirectUri: string): string {
  const { protocol, host, hostname } = new URL(redirectUri);
  // A program on this machine takes whatever port is free.
  if (protocol === 'http:') return hostname;
  return protocol === 'https:' ? host : protocol;
}

/** What our own page holds and no other can know: it takes the cookie's secret to make it. */
export function consentToken(uid: string, sessionSecret: string): string {
  return createHash('sha256').update(`consent:${uid}:${sessionSecret}`).digest('base64url');
}
