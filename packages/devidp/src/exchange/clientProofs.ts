import { X509Certificate } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { equalSecrets, type Clock } from '@behalf/kernel';
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify, type JSONWebKeySet } from 'jose';
import type { DevClient } from '../clients.ts';
import { thumbprintOf } from '../tls/devAuthority.ts';

/** Assertions of somebody else's issuer that stand for a client: workload identity federation. */
export interface Federation {
  issuer: string;
  subject: string;
  /** `api://AzureADTokenExchange` if absent. */
  audience?: string;
  keys: JSONWebKeySet;
}

export type ClientFault =
  'unnamed' | 'unknown' | 'no-proof' | 'bad-secret' | 'bad-assertion' | 'assertion-time' | 'no-federation';

export interface ClientProofParts {
  clients: readonly DevClient[];
  clock: Clock;
  /** What the assertion's `aud` may be: this very endpoint, and where the rules allow it the issuer. */
  audiences: readonly string[];
  /** Whether an assertion must name the certificate it is signed with, as Entra wants it. */
  namesCertificate: boolean;
}

const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
/** Clients have clocks of their own, and one library rounds its seconds up. */
const TOLERANCE_S = 60;
const FEDERATED_AUDIENCE = 'api://AzureADTokenExchange';

export interface ClientRequest {
  readonly form: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
}

/** By secret (in the header or the form), by an assertion signed with its certificate's key, or by a federated one. */
export async function proveClient(
  { form, headers }: ClientRequest,
  parts: ClientProofParts,
): Promise<DevClient | ClientFault> {
  const basic = readBasic(headers.authorization);
  const assertion = form.get('client_assertion') ?? undefined;
  const id = basic?.id ?? form.get('client_id') ?? issuerOf(assertion);
  if (id === undefined) return 'unnamed';
  const client = parts.clients.find((candidate) => candidate.id === id);
  if (!client) return 'unknown';
  if (assertion !== undefined) {
    if (form.get('client_assertion_type') !== ASSERTION_TYPE) return 'bad-assertion';
    const fault =
      issuerOf(assertion) === id
        ? await checkOwnAssertion(assertion, client, parts)
        : await checkFederated(assertion, client, parts);
    return fault ?? client;
  }
  const secret = basic?.secret ?? form.get('client_secret') ?? undefined;
  // A public client cannot act in somebody's name: anybody could be it.
  if (secret === undefined || client.secret === undefined) return 'no-proof';
  return equalSecrets(secret, client.secret) ? client : 'bad-secret';
}

/** Who it says it is, before anything is proven. For the record. */
export function namedClient({ form, headers }: ClientRequest): string | undefined {
  return (
    readBasic(headers.authorization)?.id ??
    form.get('client_id') ??
    issuerOf(form.get('client_assertion') ?? undefined)
  );
}

async function checkOwnAssertion(
  assertion: string,
  { id, certificates = [] }: DevClient,
  { clock, audiences, namesCertificate }: ClientProofParts,
): Promise<ClientFault | undefined> {
  const header = decodeProtectedHeader(assertion) as Record<string, unknown>;
  const named = header['x5t#S256'] ?? header.x5t;
  const certificate = certificates.find((pem) =>
    named === undefined
      ? !namesCertificate
      : [thumbprintOf(pem, 'sha256'), thumbprintOf(pem, 'sha1')].some(
          (print) => print.toString('base64url') === named,
        ),
  );
  if (certificate === undefined) return 'bad-assertion';
  return verified(() =>
    jwtVerify(assertion, new X509Certificate(certificate).publicKey, {
      algorithms: ['RS256', 'PS256'],
      ...{ issuer: id, subject: id, audience: [...audiences] },
      ...{ requiredClaims: ['exp'], currentDate: new Date(clock.now()), clockTolerance: TOLERANCE_S },
    }),
  );
}

async function checkFederated(
  assertion: string,
  { federations = [] }: DevClient,
  { clock }: ClientProofParts,
): Promise<ClientFault | undefined> {
  const { iss, sub } = unverified(assertion);
  const federation = federations.find(({ issuer, subject }) => issuer === iss && subject === sub);
  if (!federation) return 'no-federation';
  return verified(() =>
    jwtVerify(assertion, createLocalJWKSet(federation.keys), {
      algorithms: ['RS256', 'PS256'],
      audience: federation.audience ?? FEDERATED_AUDIENCE,
      ...{ requiredClaims: ['exp'], currentDate: new Date(clock.now()), clockTolerance: TOLERANCE_S },
    }),
  );
}

async function verified(check: () => Promise<unknown>): Promise<ClientFault | undefined> {
  try {
    await check();
    return undefined;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    return code === 'ERR_JWT_EXPIRED' ? 'assertion-time' : 'bad-assertion';
  }
}

function issuerOf(assertion: string | undefined): string | undefined {
  return assertion === undefined ? undefined : unverified(assertion).iss;
}

function unverified(token: string): { iss?: string; sub?: string } {
  try {
    decodeProtectedHeader(token);
    return decodeJwt(token);
  } catch {
    return {};
  }
}

/** RFC 6749, section 2.3.1: each half is form-encoded before the pair is base64. */
function readBasic(header: string | undefined): { id: string; secret: string } | undefined {
  const [, encoded] = /^Basic ([A-Za-z0-9+/=]+)$/i.exec(header ?? '') ?? [];
  if (encoded === undefined) return undefined;
  const [id = '', ...rest] = Buffer.from(encoded, 'base64').toString().split(':');
  const decode = (text: string) => new URLSearchParams(`v=${text}`).get('v') ?? '';
  return { id: decode(id), secret: decode(rest.join(':')) };
}
