import { hasControlCharacter, parseUrl } from '@behalf/contracts';
import {
  isPlaceholder,
  listPlaceholders,
  formatPlaceholder,
  type Placeholder,
  type PlaceholderKind,
  type Template,
} from './template.ts';

/** The values that are known during a call. User variables are under `userVar`; only declared names are included. */
export type TemplateValues = Readonly<
  Partial<Record<PlaceholderKind, Readonly<Record<string, string | null | undefined>>>>
>;

export type Rendered =
  | { ok: true; text: string }
  | {
      ok: false;
      /**
       * `host_value`, `url_value`: a value that is not valid at this position of a URL, or that would change the
       * path.
       */
      code: 'placeholder_unresolved' | 'header_value' | 'host_value' | 'url_value';
      placeholders: string[];
    };

/**
 * Inserts values into a template. A value is inserted literally (`$&` and `$$` have no special meaning), is never
 * parsed again, and must exist: a missing value is an error.
 */
export function renderTemplate(
  template: Template,
  values: TemplateValues,
  encode: (value: string, part: Placeholder, index: number) => string = (value) => value,
): Rendered {
  const missing: string[] = [];
  let text = '';
  for (const [index, part] of template.entries()) {
    if (!isPlaceholder(part)) {
      text += part.text;
      continue;
    }
    const value = findValue(values, part);
    if (value === undefined) missing.push(formatPlaceholder(part));
    else text += encode(value, part, index);
  }
  return missing.length > 0
    ? { ok: false, code: 'placeholder_unresolved', placeholders: missing }
    : { ok: true, text };
}

/**
 * Renders a header value. As in LibreChat, text outside Latin-1 becomes `b64:` and base64 of its UTF-8. Control
 * characters are rejected.
 */
export function renderHeader(template: Template, values: TemplateValues): Rendered {
  const unsafe: string[] = [];
  const rendered = renderTemplate(template, values, (value, part) => {
    if (hasControlCharacter(value)) unsafe.push(formatPlaceholder(part));
    return /[^\u0000-\u00ff]/.test(value) ? `b64:${Buffer.from(value, 'utf8').toString('base64')}` : value;
  });
  return rendered.ok && unsafe.length > 0
    ? { ok: false, code: 'header_value', placeholders: unsafe }
    : rendered;
}

/**
 * Renders a URL. Values are percent-encoded. In the host, a value must be one label; in the path, it must not
 * create a `.` or `..` segment.
 */
export function renderUrl(template: Template, values: TemplateValues): Rendered {
  const unsafe: string[] = [];
  const unencodable: string[] = [];
  const hosts: string[] = [];
  const rendered = renderTemplate(template, values, (value, part, index) => {
    const before = template
      .slice(0, index)
      .map((piece) => (piece.kind === 'literal' ? piece.text : 'x'))
      .join('');
    const isInHost = !/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*[/?#]/i.test(before);
    if (isInHost) hosts.push(formatPlaceholder(part));
    if (isInHost && !/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i.test(value))
      unsafe.push(formatPlaceholder(part));
    // Encoding an unpaired surrogate throws.
    if (/\p{Surrogate}/u.test(value)) {
      unencodable.push(formatPlaceholder(part));
      return '';
    }
    return encodeURIComponent(value);
  });
  if (!rendered.ok) return rendered;
  if (unencodable.length > 0) return { ok: false, code: 'url_value', placeholders: unencodable };
  if (unsafe.length > 0) return { ok: false, code: 'host_value', placeholders: unsafe };
  const asWritten = template.map((piece) => (piece.kind === 'literal' ? piece.text : 'x')).join('');
  // Dot segments that the operator wrote are allowed. A value must not add one.
  if (dotSegments(rendered.text) > dotSegments(asWritten))
    return { ok: false, code: 'url_value', placeholders: listPlaceholders(template).map(formatPlaceholder) };
  // A label such as `xn--` without valid Punycode looks valid, but a URL cannot contain it.
  if (!parseUrl(rendered.text)) {
    return hosts.length > 0
      ? { ok: false, code: 'host_value', placeholders: hosts }
      : { ok: false, code: 'url_value', placeholders: listPlaceholders(template).map(formatPlaceholder) };
  }
  return rendered;
}

/**
 * Counts dot segments, plain or encoded: `/tenants/../admin` becomes `/admin` (URL standard, "double-dot URL path
 * segment"). Checks the whole URL, because several values may form one segment.
 */
function dotSegments(url: string): number {
  // The URL parser removes tabs, line breaks and trailing spaces, and treats a backslash as a slash.
  const [path = ''] = url.replaceAll(/[\t\n\r]|[\u0000-\u0020]+$/g, '').split(/[?#]/);
  return path.split(/[/\\]/).filter((segment) => /^(\.|%2e){1,2}$/i.test(segment)).length;
}

function findValue(values: TemplateValues, part: Placeholder): string | undefined {
  const known = values[part.kind];
  if (!known || !Object.hasOwn(known, part.name)) return undefined;
  return known[part.name] ?? undefined;
}
