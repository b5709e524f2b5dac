import { hasControlCharacter, parseUrl } from '@behalf/contracts';
import {
  isPlaceholder,
  listPlaceholders,
  formatPlaceholder,
  type Placeholder,
  type PlaceholderKind,
  type Template,
} from './template.ts';

/** What is known at the time of a call. A variable of a user stands under `userVar`, and only declared names are passed in. */
export type TemplateValues = Readonly<
  Partial<Record<PlaceholderKind, Readonly<Record<string, string | null | undefined>>>>
>;

export type Rendered =
  | { ok: true; text: string }
  | {
      ok: false;
      /** `host_value`, `url_value`: a value that no URL can hold there, or that would walk to another path. */
      code: 'placeholder_unresolved' | 'header_value' | 'host_value' | 'url_value';
      placeholders: string[];
    };

/**
 * Puts values into a template: literally (`$&` and `$$` are two characters each), once (a value that looks like a
 * placeholder stays text), and completely (a value that is missing is an error, never an empty or literal placeholder).
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

/** For a header value: text beyond Latin-1 as `b64:` and base64 of its UTF-8, as LibreChat does; no control characters. */
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
 * For a URL: each value percent-encoded, so that it cannot leave its place; in the host it must be one plain label, and
 * in the path it must not make `.` or `..` of its segment.
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
    // Half a surrogate pair has no UTF-8 form, and encoding it would throw.
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
  // A segment of dots that the operator wrote is the operator's; a value may not add one.
  if (dotSegments(rendered.text) > dotSegments(asWritten))
    return { ok: false, code: 'url_value', placeholders: listPlaceholders(template).map(formatPlaceholder) };
  // A label such as `xn--` and what is no punycode has a plain form, and still no URL can hold it.
  if (!parseUrl(rendered.text)) {
    return hosts.length > 0
      ? { ok: false, code: 'host_value', placeholders: hosts }
      : { ok: false, code: 'url_value', placeholders: listPlaceholders(template).map(formatPlaceholder) };
  }
  return rendered;
}

/**
 * Encoding leaves dots alone, and encoded ones count the same: `/tenants/../admin` is `/admin` before it is sent (URL
 * standard, "double-dot URL path segment"). Parts of a segment may come from several places, so the whole is looked at.
 */
function dotSegments(url: string): number {
  // The URL parser drops tabs, line breaks and what is blank at the end, and takes a backslash for a slash.
  const [path = ''] = url.replaceAll(/[\t\n\r]|[\u0000-\u0020]+$/g, '').split(/[?#]/);
  return path.split(/[/\\]/).filter((segment) => /^(\.|%2e){1,2}$/i.test(segment)).length;
}

function findValue(values: TemplateValues, part: Placeholder): string | undefined {
  const known = values[part.kind];
  if (!known || !Object.hasOwn(known, part.name)) return undefined;
  return known[part.name] ?? undefined;
}
