// A style sheet that a module needs is bundled with it.
declare module '*.css' {}
