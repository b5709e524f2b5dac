#!/usr/bin/env node
// In the repository the sources run as they are; where they or their compiler are not there, what was built does.
import { existsSync } from 'node:fs';
import { register } from 'node:module';

const source = new URL('../src/main.ts', import.meta.url);
const hooks = new URL('../../../tools/ts-hooks.mjs', import.meta.url);

if (existsSync(source) && existsSync(hooks) && hasCompiler()) {
  register(hooks.href);
  await import(source.href);
} else {
  await import(new URL('../dist/main.js', import.meta.url).href);
}

function hasCompiler() {
  try {
    return existsSync(new URL(import.meta.resolve('@swc/core')));
  } catch {
    return false;
  }
}
