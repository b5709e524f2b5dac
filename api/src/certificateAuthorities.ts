import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createFinding, type Finding, type Path } from '@behalf/contracts';
import type { Settings } from '@behalf/settings';

/** The certificates of each file that the configuration names with `caFile`, as PEM. */
export type CertificateAuthorities = ReadonlyMap<string, string>;

export interface CertificateAuthoritiesResult {
  /** Those that could be read: a file that is missing here vouches for nobody. */
  readonly authorities: CertificateAuthorities;
  readonly problems: Finding[];
}

/** Reads every file once. */
export function readCertificateAuthorities(settings: Settings): CertificateAuthoritiesResult {
  const results = new Map<string, { pem: string } | { problem: [code: string, message: string] }>();
  const authorities = new Map<string, string>();
  const problems: Finding[] = [];
  for (const { file, path } of caFilesOf(settings)) {
    const result = results.get(file) ?? readCertificates(file);
    results.set(file, result);
    if ('pem' in result) authorities.set(file, result.pem);
    else
      problems.push(
        createFinding(path, ...result.problem, 'name a PEM file with the authority’s certificate'),
      );
  }
  return { authorities, problems };
}

function caFilesOf({ servers, identityProviders, authorizationServer }: Settings): {
  file: string;
  path: Path;
}[] {
  const documentCaFile = authorizationServer?.caFile;
  const configuredFiles: readonly (readonly [section: string, name: string, file: string | undefined])[] = [
    ...servers.map((server) => {
      const file = server.type === 'stdio' ? undefined : server.caFile;
      return ['mcpServers', server.name, file] as const;
    }),
    ...identityProviders.map(({ name, caFile }) => ['identityProviders', name, caFile] as const),
  ];
  const files = configuredFiles.flatMap(([section, name, file]) =>
    file === undefined ? [] : [{ file, path: [section, name, 'caFile'] }],
  );
  return documentCaFile === undefined
    ? files
    : [...files, { file: documentCaFile, path: ['authorizationServer', 'caFile'] }];
}

/** The certificates alone: a key that somebody left beside them is not kept in memory. */
const CERTIFICATE_PATTERN = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

function readCertificates(file: string): { pem: string } | { problem: [code: string, message: string] } {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown reason';
    return { problem: ['unreadable', `names a file that cannot be read (${code})`] };
  }
  const found = text.match(CERTIFICATE_PATTERN) ?? [];
  if (found.length === 0) return { problem: ['no_certificate', 'names a file without a PEM certificate'] };
  if (!found.every(isCertificate)) {
    return { problem: ['no_certificate', 'names a file with a malformed certificate'] };
  }
  return { pem: found.join('\n') };
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}
