import { finding, type Finding, type Path } from '@behalf/contracts';
import type { Template } from '../template/template.ts';

/**
 * Where in a URL a user's value may stand. One that chose scheme, port or part of a host name would choose where the
 * operator's headers go; a whole label of the host is allowed, and the resolved host still meets the domain policy.
 */
export function urlPlaceProblem(template: Template, path: Path): Finding | undefined {
  let before = '';
  for (const [index, part] of template.entries()) {
    if (part.kind === 'literal') {
      before += part.text;
      continue;
    }
    const authority = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)$/i.exec(before);
    const afterAuthority = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*[/?#]/i.test(before);
    if (!afterAuthority) {
      const next = template[index + 1];
      const wholeLabel =
        authority !== null &&
        /(^|\.)$/.test(authority[1] ?? '') &&
        (next === undefined || (next.kind === 'literal' && /^[./?#:]/.test(next.text)));
      if (!wholeLabel) {
        return finding(
          path,
          'url_authority',
          'a placeholder may not choose scheme, port or part of a host name',
          'write https://host in front, or let the placeholder be a whole label: https://{{NAME}}.example.com',
        );
      }
    }
    before += 'x';
  }
  return undefined;
}
