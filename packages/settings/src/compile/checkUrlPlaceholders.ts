import { createFinding, type Finding, type Path } from '@behalf/contracts';
import type { Template } from '../template/template.ts';

/**
 * Where in a URL a user's value may stand. One that chose scheme, port or part of a host name would choose where the
 * operator's headers go; a whole label of the host is allowed, and the resolved host still meets the domain policy.
 */
export function checkUrlPlaceholders(template: Template, path: Path): Finding | undefined {
  let prefix = '';
  for (const [index, part] of template.entries()) {
    if (part.kind === 'literal') {
      prefix += part.text;
      continue;
    }
    const authority = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)$/i.exec(prefix);
    const isAfterAuthority = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*[/?#]/i.test(prefix);
    if (!isAfterAuthority) {
      const next = template[index + 1];
      const isWholeLabel =
        authority !== null &&
        /(^|\.)$/.test(authority[1] ?? '') &&
        (next === undefined || (next.kind === 'literal' && /^[./?#:]/.test(next.text)));
      if (!isWholeLabel) {
        return createFinding(
          path,
          'url_authority',
          'a placeholder may not supply the scheme, the port or a part of a host label',
          'write https://host before it, or use the placeholder as a whole label: https://{{NAME}}.example.com',
        );
      }
    }
    prefix += 'x';
  }
  return undefined;
}
