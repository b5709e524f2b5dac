import { X509Certificate } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { areSecretsEqual, type Clock } from '@behalf/kernel';
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify, type JSONWebKeySet } from 'jose';
import type { DevClient } from '../directory.ts';
import { computeThumbprint } from '../devAuthority.ts';

/** Trusts assertions of another issuer for a client (workload identity federation). */
export interface FederatedCredential {
  issuer: string;
  subject: string;
  /** Default: `api://AzureADTokenExchange`. */
  audience?: string;
  jwks: JSONWebKeySet;
}

export type ClientFault =
  | 'missing-client-id'
  | 'unknown-client'
  | 'missing-credentials'
  | 'invalid-secret'
  | 'invalid-assertion'
  | 'assertion-expired'
  | 'no-federated-credential';

interface ClientVerificationParts {
  clients: readonly DevClient[];
  clock: Clock;
  /** Accepted `aud` values of an assertion. Entra does not accept the issuer. */
  audiences: { readonly token_endpoint: string; readonly issuer?: string };
  /** Whether an assertion must name its certificate, as Entra requires. */
  requiresThumbprint: boolean;
}

const CLIENT_ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
/** Tolerates clock differences; one library rounds up to full seconds. */
const CLOCK_TOLERANCE_S = 60;
const DEFAULT_FEDERATED_AUDIENCE = 'api://AzureADTokenExchange';

interface ClientRequest {
  readonly form: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
}

/** Verifies a client by its secret (header or form), by a signed assertion, or by a federated assertion. */
export async function verifyClient(
  { form, headers }: ClientRequest,
  parts: ClientVerificationParts,
): Promise<DevClient | ClientFault> {
  const basicCredentials = readBasicCredentials(headers.authorization);
  const assertion = form.get('client_assertion') ?? undefined;
  const id = basicCredentials?.id ?? form.get('client_id') ?? readIssuerClaim(assertion);
  if (id === undefined) return 'missing-client-id';
  const client = parts.clients.find((candidate) => candidate.id === id);
  if (!client) return 'unknown-client';
  if (assertion !== undefined) {
    if (form.get('client_assertion_type') !== CLIENT_ASSERTION_TYPE) return 'invalid-assertion';
    const fault =
      readIssuerClaim(assertion) === id
        ? await verifyCertificateAssertion(assertion, client, parts)
        : await verifyFederatedAssertion(assertion, client, parts);
    return fault ?? client;
  }
  const secret = basicCredentials?.secret ?? form.get('client_secret') ?? undefined;
  // A public client must not act for a user, because anyone can use its ID.
  if (secret === undefined || client.secret === undefined) return 'missing-credentials';
  return areSecretsEqual(secret, client.secret) ? client : 'invalid-secret';
}

/** The unverified client ID, for the request log. */
export function readClaimedClientId({ form, headers }: ClientRequest): string | undefined {
  return (
    readBasicCredentials(headers.authorization)?.id ??
    form.get('client_id') ??
    readIssuerClaim(form.get('client_assertion') ?? undefined)
  );
}

async function verifyCertificateAssertion(
  assertion: string,
  { id, certificates = [], assertionAudience }: DevClient,
  { clock, audiences, requiresThumbprint }: ClientVerificationParts,
): Promise<ClientFault | undefined> {
  const accepted = assertionAudience ? [audiences[assertionAudience]] : Object.values(audiences);
  const header = decodeProtectedHeader(assertion) as Record<string, unknown>;
  const thumbprint = header['x5t#S256'] ?? header.x5t;
  const certificate = certificates.find((pem) =>
    thumbprint === undefined
      ? !requiresThumbprint
      : [computeThumbprint(pem, 'sha256'), computeThumbprint(pem, 'sha1')].some(
          (candidate) => candidate.toString('base64url') === thumbprint,
        ),
  );
  if (certificate === undefined) return 'invalid-assertion';
  return findAssertionFault(() =>
    jwtVerify(assertion, new X509Certificate(certificate).publicKey, {
      algorithms: ['RS256', 'PS256'],
      ...{ issuer: id, subject: id, audience: accepted.filter((audience) => audience !== undefined) },
      ...{ requiredClaims: ['exp'], currentDate: new Date(clock.now()), clockTolerance: CLOCK_TOLERANCE_S },
    }),
  );
}

async function verifyFederatedAssertion(
  assertion: string,
  { federatedCredentials = [] }: DevClient,
  { clock }: ClientVerificationParts,
): Promise<ClientFault | undefined> {
  const { iss, sub } = decodeUnverifiedClaims(assertion);
  const federatedCredential = federatedCredentials.find(
    ({ issuer, subject }) => issuer === iss && subject === sub,
  );
  if (!federatedCredential) return 'no-federated-credential';
  return findAssertionFault(() =>
    jwtVerify(assertion, createLocalJWKSet(federatedCredential.jwks), {
      algorithms: ['RS256', 'PS256'],
      audience: federatedCredential.audience ?? DEFAULT_FEDERATED_AUDIENCE,
      ...{ requiredClaims: ['exp'], currentDate: new Date(clock.now()), clockTolerance: CLOCK_TOLERANCE_S },
    }),
  );
}

async function findAssertionFault(verify: () => Promise<unknown>): Promise<ClientFault | undefined> {
  try {
    await verify();
    return undefined;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    return code === 'ERR_JWT_EXPIRED' ? 'assertion-expired' : 'invalid-assertion';
  }
}

function readIssuerClaim(assertion: string | undefined): string | undefined {
  return assertion === undefined ? undefined : decodeUnverifiedClaims(assertion).iss;
}

function decodeUnverifiedClaims(token: string): { iss?: string; sub?: string } {
  try {
    decodeProtectedHeader(token);
    return decodeJwt(token);
  } catch {
    return {};
  }
}

/** Both parts are form-encoded before base64 (RFC 6749 section 2.3.1). */
function readBasicCredentials(header: string | undefined): { id: string; secret: string } | undefined {
  const [, encoded] = /^Basic ([A-Za-z0-9+/=]+)$/i.exec(header ?? '') ?? [];
  if (encoded === undefined) return undefined;
  const [id = '', ...rest] = Buffer.from(encoded, 'base64').toString().split(':');
  const decodeFormValue = (text: string) => new URLSearchParams(`v=${text}`).get('v') ?? '';
  return { id: decodeFormValue(id), secret: decodeFormValue(rest.join(':')) };
}
