import { type KeyObject, X509Certificate, createHash, createPrivateKey } from 'node:crypto';
import { ExchangeFault } from '../exchangeProvider.ts';
import type { EffectiveSettings } from './providerSettings.ts';
import { parseJsonObject } from './tokenRequest.ts';

/** How the client proves itself. */
export type CredentialMaterial =
  | { readonly kind: 'none' }
  | { readonly kind: 'secret'; readonly secret: string }
  | {
      readonly kind: 'key';
      readonly key: KeyObject;
      /** PKCS #8. */
      readonly pem: string;
      /** SHA-256 of the certificate, hexadecimal; undefined without one. */
      readonly thumbprint: string | undefined;
    }
  /** Made by somebody else and kept in a file. */
  | { readonly kind: 'assertion'; readonly assertion: string };

export type ReadTextFile = (file: string) => Promise<string>;

export interface ClientCredential {
  /**
   * Names the credential as it was last read. Before the first reading it is the file's name: `read` at the start makes
   * it the content's. Assertions are renewed all the time without being anybody else's, so they are known by name alone.
   */
  getFingerprint(): string;
  /** Anew for each exchange: a file that was replaced counts at once. Rejects with ExchangeFault. */
  read(): Promise<CredentialMaterial>;
}

export function createClientCredential(
  settings: EffectiveSettings,
  readText: ReadTextFile,
): ClientCredential {
  const { name, clientSecret, certificateFile, privateKeyFile, assertionFile, clientAuth } = settings;
  const keyFile = privateKeyFile ?? certificateFile;
  const createFault = (hint: string, cause?: unknown) =>
    new ExchangeFault('OBO_MISCONFIGURED', { hint: `identityProviders.${name}: ${hint}`, cause });

  async function readKey(file: string): Promise<CredentialMaterial> {
    let pem: string;
    let certificate: string | undefined;
    try {
      [pem, certificate] = await Promise.all([
        readText(file),
        certificateFile === undefined ? undefined : readText(certificateFile),
      ]);
    } catch (error) {
      throw createFault('privateKeyFile or certificateFile cannot be read', error);
    }
    let key: KeyObject;
    let thumbprint: string | undefined;
    try {
      key = createPrivateKey(pem);
      const parsed = certificate === undefined ? undefined : new X509Certificate(certificate);
      thumbprint = parsed?.fingerprint256.replaceAll(':', '');
      if (parsed && !parsed.checkPrivateKey(key)) thumbprint = '';
    } catch {
      // The error may quote what it could not parse.
      throw createFault(
        'privateKeyFile is not an unencrypted PEM private key, or certificateFile is not a certificate',
      );
    }
    if (thumbprint === '') throw createFault('privateKeyFile does not belong to certificateFile');
    const pkcs8 = key.export({ type: 'pkcs8', format: 'pem' }).toString();
    fingerprint = hashTuple(['key', thumbprint ?? '', pkcs8]);
    return { kind: 'key', key, pem: pkcs8, thumbprint };
  }

  async function readAssertion(file: string): Promise<CredentialMaterial> {
    return {
      kind: 'assertion',
      assertion: await readTokenFile(file, 'assertionFile', createFault, readText),
    };
  }

  // A proof that is not a shared secret first, unless the secret is asked for by name.
  const usesSecret = clientAuth === 'basic' || clientAuth === 'post';
  const fixedMaterial =
    usesSecret || (assertionFile ?? keyFile) === undefined
      ? clientSecret === undefined
        ? ({ kind: 'none' } as const)
        : ({ kind: 'secret', secret: clientSecret } as const)
      : undefined;
  const fileNames = ['file', assertionFile ?? '', keyFile ?? '', certificateFile ?? ''];
  let fingerprint = hashTuple(
    fixedMaterial?.kind === 'secret'
      ? ['secret', fixedMaterial.secret]
      : fixedMaterial
        ? ['none']
        : fileNames,
  );

  return {
    getFingerprint: () => fingerprint,
    async read() {
      if (fixedMaterial) return fixedMaterial;
      return assertionFile !== undefined ? readAssertion(assertionFile) : readKey(keyFile ?? '');
    },
  };
}

/** A token that somebody else renews in a file. */
async function readTokenFile(
  file: string,
  setting: string,
  misconfigured: (hint: string, cause?: unknown) => ExchangeFault,
  readText: ReadTextFile,
): Promise<string> {
  let text: string;
  try {
    text = (await readText(file)).trim();
  } catch (error) {
    throw misconfigured(`${setting} cannot be read`, error);
  }
  if (!/^[\x21-\x7e]+$/.test(text)) throw misconfigured(`${setting} does not contain a token`);
  return text;
}

/** Of a tuple: no two share an encoding. */
export function hashTuple(parts: readonly (string | null)[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}

/** Who acts for the user, where the provider is told (RFC 8693, section 2.1). */
export interface ActorToken {
  /** Names the actor as it was last read, not the token: that is renewed all the time. Empty without one. */
  getFingerprint(): string;
  /** Anew for each exchange. Rejects with ExchangeFault. */
  read(): Promise<string | undefined>;
}

export function createActorToken(
  { name, actorTokenFile: file }: EffectiveSettings,
  readText: ReadTextFile,
): ActorToken {
  if (file === undefined) return { getFingerprint: () => '', read: async () => undefined };
  const createFault = (hint: string, cause?: unknown) =>
    new ExchangeFault('OBO_MISCONFIGURED', { hint: `identityProviders.${name}: ${hint}`, cause });
  let fingerprint = hashTuple([file]);
  return {
    getFingerprint: () => fingerprint,
    async read() {
      const token = await readTokenFile(file, 'actorTokenFile', createFault, readText);
      fingerprint = hashTuple([file, readActorIdentity(token)]);
      return token;
    },
  };
}

/** As the token says of itself: it only tells apart, it proves nothing. */
function readActorIdentity(token: string): string {
  const { iss, sub } = parseJsonObject(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) ?? {};
  return typeof sub === 'string' ? JSON.stringify([typeof iss === 'string' ? iss : null, sub]) : token;
}
