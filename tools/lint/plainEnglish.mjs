// ESLint rule: identifiers, file names, strings and comments use standard terms. vocabulary.mjs holds the lists.
import { basename } from 'node:path';
import { adviceForName, findPhrases } from './vocabulary.mjs';

/** Shorter strings are keys and codes. */
const MIN_TEXT_LENGTH = 12;

/** @type {import('eslint').Rule.RuleModule} */
export const plainEnglish = {
  meta: {
    type: 'suggestion',
    docs: { description: 'Reject private vocabulary in names, strings and comments.' },
    schema: [
      {
        type: 'object',
        properties: {
          strings: { type: 'boolean' },
          comments: { type: 'boolean' },
          exceptions: {
            type: 'array',
            items: {
              type: 'object',
              properties: { name: { type: 'string' }, file: { type: 'string' }, reason: { type: 'string' } },
              required: ['name', 'file'],
              additionalProperties: false,
            },
          },
        },
        additionalProperties: false,
      },
    ],
    messages: {
      name: '"{{name}}" is not a standard term. Instead: {{advice}}.',
      file: 'The file name "{{name}}" is not a standard term. Instead: {{advice}}.',
      phrase: '"{{phrase}}" needs a second reading. Instead: {{advice}}.',
    },
  },
  create(context) {
    const { strings = true, comments = true, exceptions = [] } = context.options[0] ?? {};
    const isException = new Set(
      exceptions.filter(({ file }) => context.filename.endsWith(file)).map(({ name }) => name),
    );
    const sourceCode = context.sourceCode;

    function checkName(node) {
      if (isException.has(node.name)) return;
      const advice = adviceForName(node.name);
      if (advice !== undefined) {
        context.report({ node, messageId: 'name', data: { name: node.name, advice } });
      }
    }

    function checkText(text, loc) {
      if (text.length < MIN_TEXT_LENGTH) return;
      // An option of the command line is a name, not prose.
      for (const { phrase, advice } of findPhrases(text.replace(/--[a-z-]+/g, ''))) {
        if (isException.has(phrase)) continue;
        context.report({ loc, messageId: 'phrase', data: { phrase, advice } });
      }
    }

    return {
      Program(node) {
        const name = basename(context.filename).replace(/\.(test\.)?\w+$/, '');
        const advice = isException.has(name) ? undefined : adviceForName(name);
        if (advice !== undefined) context.report({ node, messageId: 'file', data: { name, advice } });
        if (!comments) return;
        for (const comment of sourceCode.getAllComments()) checkText(comment.value, comment.loc);
      },
      Identifier: checkName,
      JSXIdentifier: checkName,
      Literal(node) {
        if (strings && typeof node.value === 'string') checkText(node.value, node.loc);
      },
      TemplateElement(node) {
        if (strings) checkText(node.value.cooked ?? '', node.loc);
      },
      JSXText(node) {
        if (strings) checkText(node.value, node.loc);
      },
    };
  },
};
