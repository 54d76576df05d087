import reactHooks from 'eslint-plugin-react-hooks'
import tseslint from 'typescript-eslint'

const MIDDLEWARE_TYPE = 'TSTypeAnnotation > TSTypeReference > Identifier[name=/^((Error)?RequestHandler|Router)$/]'

// Types-aware rules only. Formatting is Biome's, architecture is dependency-cruiser's, dead code is knip's.
export default tseslint.config(
  { ignores: ['**/dist/', '**/node_modules/', '.data/', '**/*.{js,cjs}', '**/api/schema.ts'] },
  tseslint.configs.strictTypeChecked,
  {
    files: ['**/*.{ts,tsx,mjs}'],
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      // There are no enums: erasableSyntaxOnly.
      '@typescript-eslint/no-unsafe-enum-assignment': 'off',
      '@typescript-eslint/no-unsafe-enum-comparison': 'off',
      // Express tells an error handler by its four parameters.
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
    },
  },
  {
    ...reactHooks.configs.flat['recommended-latest'],
    files: ['services/*/web/src/**/*.{ts,tsx}', 'packages/web-kit/src/**/*.{ts,tsx}'],
  },
  {
    // JavaScript has no casts: what JSON.parse returns can only be declared.
    files: ['**/*.mjs'],
    rules: {
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
    },
  },
  {
    // A suffix is a promise: dependency-cruiser checks what a file imports, this what it exports.
    files: ['services/*/src/**/*.middleware.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector:
            `Program:not(:has(ExportNamedDeclaration > FunctionDeclaration > ${MIDDLEWARE_TYPE}, ` +
            `ExportNamedDeclaration > VariableDeclaration > VariableDeclarator > Identifier > ${MIDDLEWARE_TYPE}))`,
          message: 'A .middleware.ts file exports Express middleware; a guard is a .guard.ts file.',
        },
      ],
    },
  },
  {
    // Node's own test runner waits for the tests of a file by itself.
    files: ['infra/*.test.mjs'],
    rules: {
      '@typescript-eslint/no-floating-promises': [
        'error',
        { allowForKnownSafeCalls: [{ from: 'package', name: 'test', package: 'node:test' }] },
      ],
    },
  },
)
