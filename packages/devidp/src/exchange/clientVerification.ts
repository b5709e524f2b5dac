import { X509Certificate } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { areSecretsEqual, type Clock } from '@behalf/kernel';
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify, type JSONWebKeySet } from 'jose';
import type { DevClient } from '../clients.ts';
import { computeThumbprint } from '../tls/devAuthority.ts';

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

export interface ClientVerificationParts {
  clients: readonly DevClient[];
  clock: Clock;
  /** What the assertion's `aud` may be: this very endpoint, and where the rules allow it the issuer. */
  audiences: readonly string[];
  /** Whether an assertion must name the certificate it is signed with, as Entra wants it. */
  requiresThumbprint: boolean;
}

const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
/** Clients have clocks of their own, and one library rounds its seconds up. */
const CLOCK_TOLERANCE_S = 60;
const FEDERATED_AUDIENCE = 'api://AzureADTokenExchange';

export interface ClientRequest {
  readonly form: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
}

/** By secret (in the header or the form), by an assertion signed with its certificate's key, or by a federated one. */
export async function verifyClient(
  { form, headers }: ClientRequest,
  parts: ClientVerificationParts,
): Promise<DevClient | ClientFault> {
  const basic = readBasic(headers.authorization);
  const assertion = form.get('client_assertion') ?? undefined;
  const id = basic?.id ?? form.get('client_id') ?? readIssuerClaim(assertion);
  if (id === undefined) return 'unnamed';
  const client = parts.clients.find((candidate) => candidate.id === id);
  if (!client) return 'unknown';
  if (assertion !== undefined) {
    if (form.get('client_assertion_type') !== ASSERTION_TYPE) return 'bad-assertion';
    const fault =
      readIssuerClaim(assertion) === id
        ? await checkOwnAssertion(assertion, client, parts)
        : await checkFederatedAssertion(assertion, client, parts);
    return fault ?? client;
  }
  const secret = basic?.secret ?? form.get('client_secret') ?? undefined;
  // A public client cannot act in somebody's name: anybody could be it.
  if (secret === undefined || client.secret === undefined) return 'no-proof';
  return areSecretsEqual(secret, client.secret) ? client : 'bad-secret';
}

/** Who it says it is, before anything is proven. For the record. */
export function readClientId({ form, headers }: ClientRequest): string | undefined {
  return (
    readBasic(headers.authorization)?.id ??
    form.get('client_id') ??
    readIssuerClaim(form.get('client_assertion') ?? undefined)
  );
}

async function checkOwnAssertion(
  assertion: string,
  { id, certificates = [] }: DevClient,
  { clock, audiences, requiresThumbprint }: ClientVerificationParts,
): Promise<ClientFault | undefined> {
  const header = decodeProtectedHeader(assertion) as Record<string, unknown>;
  const thumbprint = header['x5t#S256'] ?? header.x5t;
  const certificate = certificates.find((pem) =>
    thumbprint === undefined
      ? !requiresThumbprint
      : [computeThumbprint(pem, 'sha256'), computeThumbprint(pem, 'sha1')].some(
          (candidate) => candidate.toString('base64url') === thumbprint,
        ),
  );
  if (certificate === undefined) return 'bad-assertion';
  return runVerification(() =>
    jwtVerify(assertion, new X509Certificate(certificate).publicKey, {
      algorithms: ['RS256', 'PS256'],
      ...{ issuer: id, subject: id, audience: [...audiences] },
      ...{ requiredClaims: ['exp'], currentDate: new Date(clock.now()), clockTolerance: CLOCK_TOLERANCE_S },
    }),
  );
}

async function checkFederatedAssertion(
  assertion: string,
  { federations = [] }: DevClient,
  { clock }: ClientVerificationParts,
): Promise<ClientFault | undefined> {
  const { iss, sub } = decodeUnverified(assertion);
  const federation = federations.find(({ issuer, subject }) => issuer === iss && subject === sub);
  if (!federation) return 'no-federation';
  return runVerification(() =>
    jwtVerify(assertion, createLocalJWKSet(federation.keys), {
      algorithms: ['RS256', 'PS256'],
      audience: federation.audience ?? FEDERATED_AUDIENCE,
      ...{ requiredClaims: ['exp'], currentDate: new Date(clock.now()), clockTolerance: CLOCK_TOLERANCE_S },
    }),
  );
}

async function runVerification(check: () => Promise<unknown>): Promise<ClientFault | undefined> {
  try {
    await check();
    return undefined;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    return code === 'ERR_JWT_EXPIRED' ? 'assertion-time' : 'bad-assertion';
  }
}

function readIssuerClaim(assertion: string | undefined): string | undefined {
  return assertion === undefined ? undefined : decodeUnverified(assertion).iss;
}

function decodeUnverified(token: string): { iss?: string; sub?: string } {
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
