import { describe, expect, test } from '@jest/globals';
import { toFileName } from './saveFile.ts';
import { parseResultBlock } from './resultContent.ts';
import { safeHref } from './safeHref.ts';

const data = 'iVBORw0KGgo=';

describe('a block of a result', () => {
  test('is a text, a picture, a sound or a file', () => {
    expect(parseResultBlock({ type: 'text', text: 'hi' })).toEqual({ kind: 'text', text: 'hi' });
    expect(parseResultBlock({ type: 'image', data, mimeType: 'image/PNG' })).toMatchObject({ kind: 'image' });
    expect(parseResultBlock({ type: 'audio', data, mimeType: 'audio/mpeg; codecs=mp3' })).toMatchObject({
      kind: 'audio',
      payload: { mimeType: 'audio/mpeg' },
    });
    expect(parseResultBlock({ type: 'resource', resource: { uri: 'demo://a', text: 'hello' } })).toEqual({
      kind: 'text',
      text: 'hello',
      name: 'demo://a',
    });
    expect(
      parseResultBlock({
        type: 'resource',
        resource: { uri: 'demo://a.zip', mimeType: 'application/zip', blob: data },
      }),
    ).toMatchObject({ kind: 'file', payload: { name: 'demo://a.zip' } });
  });

  test('only pictures of points are shown as pictures', () => {
    for (const mimeType of ['image/svg+xml', 'IMAGE/SVG+XML', 'text/html', 'image/svg', '', 'image/x-icon']) {
      expect(parseResultBlock({ type: 'image', data, mimeType })).toMatchObject({ kind: 'file' });
    }
    for (const mimeType of ['image/png', 'image/jpeg', 'image/gif', 'image/webp']) {
      expect(parseResultBlock({ type: 'image', data, mimeType })).toMatchObject({ kind: 'image' });
    }
    expect(parseResultBlock({ type: 'audio', data, mimeType: 'audio/x,<script>' })).toMatchObject({
      kind: 'file',
    });
    expect(parseResultBlock({ type: 'audio', data, mimeType: 'text/html' })).toMatchObject({ kind: 'file' });
    const svg = { uri: 'demo://a.svg', mimeType: 'image/svg+xml', blob: data };
    expect(parseResultBlock({ type: 'resource', resource: svg })).toMatchObject({ kind: 'file' });
  });

  test('is a file to be saved when it is too large to be shown', () => {
    const large = 'A'.repeat(6_000_001);
    expect(parseResultBlock({ type: 'image', data: large, mimeType: 'image/png' })).toMatchObject({
      kind: 'file',
    });
  });

  test('is shown as it came when it is not understood', () => {
    const strange = [
      null,
      'text',
      { type: 'text', text: 7 },
      { type: 'image', mimeType: 'image/png' },
      { type: 'resource', resource: null },
      { type: 'resource', resource: { uri: 'demo://a' } },
      { type: 'resource_link' },
      { type: '__proto__' },
      { type: 'hologram', depth: 3 },
    ];
    for (const block of strange) expect(parseResultBlock(block)).toEqual({ kind: 'unknown', value: block });
  });

  test('only addresses of the web can be opened, and each is shown', () => {
    const href = (uri: string) => {
      const block = parseResultBlock({ type: 'resource_link', uri, name: 'x' });
      return block.kind === 'link' ? [block.href, block.uri] : undefined;
    };
    expect(href('https://example.com/a')).toEqual(['https://example.com/a', 'https://example.com/a']);
    // What is shown is where it leads, letters of other scripts spelled out.
    expect(href('https://exаmple.com')).toEqual([
      'https://xn--exmple-4nf.com/',
      'https://xn--exmple-4nf.com/',
    ]);
    for (const uri of [
      'javascript:alert(1)',
      ' JaVaScRiPt:alert(1)',
      'data:text/html,<script>alert(1)</script>',
      'file:///etc/passwd',
      'demo://resource/1',
      'vbscript:x',
      '//example.com',
      '/relative',
      'https://bank.example@evil.example/',
      'https://:secret@evil.example/',
    ]) {
      expect(href(uri)).toEqual([undefined, uri]);
      expect(safeHref(uri)).toBeUndefined();
    }
  });

  test('it is saved under a plain name', () => {
    expect(toFileName({ name: 'demo://docs/report.pdf', mimeType: 'application/pdf' })).toBe('report.pdf');
    expect(toFileName({ name: '../../etc/passwd', mimeType: '' })).toBe('passwd');
    expect(toFileName({ name: '..\\..\\.bashrc', mimeType: '' })).toBe('bashrc');
    expect(toFileName({ name: '', mimeType: 'image/svg+xml' })).toBe('result.svg');
    expect(toFileName({ name: 'a"b\n<c>', mimeType: 'constructor' })).toBe('a_b_c_');
    expect(toFileName({ name: 'x'.repeat(500), mimeType: 'image/png' })).toHaveLength(84);
  });
});
